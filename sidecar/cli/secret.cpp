// `cellgate secret`: the secrets that tool servers get: add, list and remove them.

#include "argument_error.hpp"
#include "base/enum_name.hpp"
#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"
#include "base/files.hpp"
#include "base/json_codec.hpp"
#include "base/shell_words.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "protocol/messages/secrets.hpp"
#include "record_text.hpp"
#include "running_sidecar.hpp"
#include "store/secrets.hpp"
#include "terminal_client.hpp"
#include "value_checks.hpp"
#include "workspace_option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <unistd.h>

namespace cellgate::cli {

namespace {

struct SecretArguments {
    std::string workspace = ".";
    std::string name;
    std::string command;
    std::string file;
    std::string session; // empty: of none
    bool of_workspace = false;
    bool json = false;
    int exit_code = 0;

    // Which one of its name is meant.
    template <class Params>
    void describe(Params& params) const {
        params.name = name;
        params.scope = of_workspace ? protocol::SecretScope::workspace : protocol::SecretScope::user;
        if (!session.empty()) {
            params.scope = protocol::SecretScope::session;
            params.session_id = session;
        }
    }
};

template <class Method>
Task<void> ask_own(TerminalClient* client, typename Method::Params params,
                   std::optional<typename Method::Result>* result) {
    *result = co_await client->sidecar().call<Method>(std::move(params));
}

// Of a sidecar in this process; of the one that runs, where the secret is one of its sessions'. Nothing, said and with
// an exit code, where none runs.
template <class Method>
Task<std::optional<typename Method::Result>> ask(async::Loop* loop, SecretArguments* arguments,
                                                 typename Method::Params params) {
    std::optional<typename Method::Result> result;
    if (arguments->session.empty()) {
        std::function<Task<void>(TerminalClient&)> body = [&](TerminalClient& client) {
            return ask_own<Method>(&client, std::move(params), &result);
        };
        service::SidecarOptions options = options_of(arguments->workspace);
        co_await with_terminal_client(loop, std::move(options), std::move(body));
        co_return std::move(result);
    }
    daemon::InstancePaths paths = daemon::find_instance_paths(arguments->workspace, process_environment());
    std::unique_ptr<ByteStream> stream = co_await join_running_sidecar(loop, std::move(paths));
    if (!stream) {
        arguments->exit_code = 1;
        co_return std::nullopt;
    }
    WorkspaceClient client(*loop, std::move(stream));
    result = co_await client.ask<Method>(std::move(params));
    co_return std::move(result);
}

std::string secret_line(const protocol::SecretInfo& secret) {
    const std::string session = secret.session_id ? " " + escape_unprintable(*secret.session_id) : std::string();
    std::string line =
        fmt::format("{}  {}{}  {}", secret.name, enum_name(secret.scope), session, enum_name(secret.source));
    if (secret.from) {
        line += ": " + *secret.from;
    }
    if (!secret.used_by.empty()) {
        line += "  used by " + escape_unprintable(fmt::format("{}", fmt::join(secret.used_by, ", ")));
    }
    if (secret.last_used_at) {
        line += fmt::format("  last {}Z", short_time(*secret.last_used_at));
    }
    return line;
}

Task<void> list_secrets(async::Loop* loop, SecretArguments* arguments) {
    const Empty nothing;
    const std::optional<protocol::SecretListResult> found =
        co_await ask<protocol::SecretList>(loop, arguments, nothing);
    if (!found) {
        co_return;
    }
    bool any = false;
    for (const protocol::SecretInfo& secret : found->secrets) {
        if (secret.session_id.value_or("") == arguments->session) {
            fmt::print("{}\n", arguments->json ? to_json(secret) : secret_line(secret));
            any = true;
        }
    }
    if (!any && !arguments->json) {
        fmt::print("there are no secrets{}; `cellgate secret add` keeps one\n",
                   arguments->session.empty() ? "" : " of that session alone");
    }
}

// All of stdin, without its last line break.
std::string piped_value() {
    std::string value;
    for (int c = 0; value.size() <= store::max_secret_value_bytes + 2 && (c = std::fgetc(stdin)) != EOF;) {
        value += static_cast<char>(c);
    }
    for (const char c : {'\n', '\r'}) {
        if (value.ends_with(c)) {
            value.pop_back();
        }
    }
    return value;
}

Task<std::string> typed_value(async::Loop* loop, std::string name) {
    std::fflush(stdout);
    const std::unique_ptr<Terminal> terminal = Terminal::open(*loop);
    std::optional<std::string> typed;
    if (terminal) {
        std::string question = fmt::format("The value of {}, typed unseen: ", name);
        typed = co_await terminal->ask(std::move(question), true);
        co_await terminal->close();
    }
    co_return std::move(typed).value_or("");
}

// What cannot be a value is refused here: an error of the sidecar would quote it.
void require_value(const std::string& value) {
    if (value.empty() || value.size() > store::max_secret_value_bytes || value.find('\0') != std::string::npos) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("expected a value of 1 to {} bytes without NUL; nothing was kept",
                                store::max_secret_value_bytes),
                    "It is typed at the terminal, or comes from stdin.");
    }
}

// What is looked at when the secret is needed may come later, so it is no error.
void remark_missing_source(const SecretArguments& arguments, const protocol::SecretSetParams& params) {
    std::string missing;
    if (params.file) {
        const std::optional<std::string> text = read_file(*params.file);
        missing = text ? "" : fmt::format("{} cannot be read: {}", *params.file, std::strerror(errno));
    } else if (params.command) {
        const std::string& program = params.command->front();
        const bool is_path = program.find('/') != std::string::npos;
        const bool found = is_path ? program.starts_with('/') && is_program(program)
                                   : find_program(program, process_environment()).has_value();
        missing = found     ? ""
                  : is_path ? fmt::format("{} is no program with an absolute path", program)
                            : fmt::format("there is no program {} in PATH", program);
    }
    if (!missing.empty()) {
        fmt::print(stderr, "cellgate: {}; {} has no value until that is mended\n", escape_unprintable(missing),
                   arguments.name);
    }
}

Task<void> add_one(async::Loop* loop, SecretArguments* arguments) {
    protocol::SecretSetParams params;
    arguments->describe(params);
    if (!arguments->command.empty()) {
        params.command = plain_words(arguments->command);
        if (!params.command || params.command->empty()) {
            throw ArgumentError(
                ErrorCode::invalid_params,
                "--command: expected a program and its arguments, found what only a shell takes (variables, pipes, "
                "patterns), or nothing",
                "A shell of its own can be the program: sh -c '…'");
        }
    } else if (!arguments->file.empty()) {
        params.file = std::filesystem::absolute(arguments->file);
    } else {
        if (::isatty(STDIN_FILENO) != 0) {
            params.value = co_await typed_value(loop, arguments->name);
        } else {
            params.value = piped_value();
        }
        require_value(*params.value);
    }
    remark_missing_source(*arguments, params);
    const std::optional<protocol::SecretInfo> kept =
        co_await ask<protocol::SecretSet>(loop, arguments, std::move(params));
    if (kept && arguments->json) {
        fmt::print("{}\n", to_json(*kept));
    } else if (kept && kept->session_id) {
        fmt::print("kept until the session ends: ${{secret:{}}} is its value, in a rule about requests\n", kept->name);
    } else if (kept) {
        fmt::print("kept: ${{secret:{}}} is its value, in a tool server's configuration or in a rule about requests\n",
                   kept->name);
    }
}

Task<void> remove_one(async::Loop* loop, SecretArguments* arguments) {
    protocol::SecretDeleteParams params;
    arguments->describe(params);
    const std::optional<Empty> removed = co_await ask<protocol::SecretDelete>(loop, arguments, std::move(params));
    if (removed && arguments->json) {
        fmt::print("{}\n", to_json(*removed));
    }
}

} // namespace

void add_secret(CLI::App& app, Invocation& invocation) {
    CLI::App* command = app.add_subcommand("secret", "Secrets that tool servers get: add, list or remove them");
    Parts<SecretArguments> parts(*command, invocation, list_secrets);
    SecretArguments& arguments = parts.arguments();
    const auto names_session = [&](CLI::App& part) {
        return part
            .add_option("--session", arguments.session, "Of this session of the sidecar that runs, which ends it")
            ->type_name("ID");
    };
    const auto names_one = [&](CLI::App& part, const char* meaning) {
        part.add_option("NAME", arguments.name, meaning)->required()->check(variable_name())->type_name("");
        part.add_flag("--workspace", arguments.of_workspace, "This workspace's; default: yours, for all of them")
            ->excludes(names_session(part));
    };

    CLI::App& adding = parts.add("add", "Keep a secret; its value is typed unseen, or comes from stdin", add_one);
    names_one(adding, "Letters, digits and _; configurations name it as ${secret:NAME}");
    CLI::Option* from_command =
        adding
            .add_option("--command", arguments.command,
                        "What this prints is the value: 'op read op://vault/item/field'. Without a shell, outside the "
                        "sandbox, when the secret is needed")
            ->type_name("TEXT");
    adding.add_option("--file", arguments.file, "A file of NAME=value lines, read when the secret is needed")
        ->excludes(from_command)
        ->type_name("PATH");

    names_session(
        parts.add("list", "List the secrets: their names, where they come from and who uses them", list_secrets));

    names_one(parts.add("remove", "Forget a secret; tool servers that run keep it", remove_one), "As list shows it");
}

} // namespace cellgate::cli
