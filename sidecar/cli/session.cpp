// `cellgate session`: the sessions of the workspace's sidecar: list, create, show, restart, interrupt and close them.

#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "chosen_id.hpp"
#include "protocol/messages/kernels.hpp"
#include "record_text.hpp"
#include "running_sidecar.hpp"
#include "session_options.hpp"
#include "session_permissions.hpp"
#include "session_text.hpp"
#include "text_table.hpp"
#include "value_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

namespace cellgate::cli {

namespace {

struct SessionArguments {
    std::string workspace = ".";
    std::string id;
    protocol::SessionCreateParams create;
    std::string kernel;
    std::string profile;
    std::string cwd;
    std::vector<std::string> variables; // "NAME=VALUE"
    SessionSandbox sandbox;
    bool json = false;
    int exit_code = 1;

    protocol::SessionParams params() const { return {id}; }
};

std::string kernel_words(const protocol::SessionKernel& kernel) {
    return fmt::format("{} ({}{})", kernel.name, kernel.language, kernel.version ? " " + *kernel.version : "");
}

Task<void> list_sessions(WorkspaceClient* client, SessionArguments* arguments) {
    const protocol::SessionListResult list = co_await client->call<protocol::SessionList>();
    if (arguments->json) {
        fmt::print("{}\n", to_json(list));
        co_return;
    }
    std::vector<std::vector<std::string>> rows{{"SESSION", "STATUS", "KERNEL", "SANDBOX", "RUN", "WAITING", "OF"}};
    for (const protocol::SessionInfo& each : list.sessions) {
        rows.push_back({each.session_id, std::string(enum_name(each.status)), kernel_words(each.kernel),
                        std::string(enum_name(each.sandbox)), std::to_string(each.execution_count),
                        std::to_string(each.queue_length), each.agent ? "agent " + *each.agent : "the user"});
    }
    fmt::print("{}", list.sessions.empty() ? "no session runs\n" : text_table(rows));
}

void print_session(const protocol::SessionInfo& session) {
    fmt::print("session: {}, {}, since {}Z\n", escape_unprintable(session.session_id), enum_name(session.status),
               short_time(session.created_at));
    fmt::print("of: {}\n", session.agent ? "agent " + escape_unprintable(*session.agent) : "the user");
    fmt::print("kernel: {}\n", escape_unprintable(kernel_words(session.kernel)));
    fmt::print("folder: {}\n", escape_unprintable(session.cwd));
    fmt::print("sandbox: {}\n", enum_name(session.sandbox));
    if (session.image) {
        fmt::print("image: {} ({})\n", session.image->name, session.image->id);
    }
    fmt::print("layers: {}\n", escape_unprintable(fmt::format("{}", fmt::join(session.layers, ", "))));
    if (session.sandbox_config) {
        fmt::print("settings file: {}\n", escape_unprintable(*session.sandbox_config));
    }
    if (session.sandbox_additions) {
        fmt::print("also shown: {}\n", escape_unprintable(to_json(*session.sandbox_additions)));
    }
    for (const std::string& notice : session.sandbox_notices.value_or(std::vector<std::string>{})) {
        fmt::print("notice: {}\n", escape_unprintable(notice));
    }
    if (session.profile) {
        fmt::print("profile: {}\n", *session.profile);
    }
}

// The hosts that the session's profile opens.
Task<std::vector<std::string>> hosts_of(WorkspaceClient* client, std::optional<std::string> profile) {
    std::vector<std::string> hosts;
    if (profile) {
        const protocol::RuntimesResult runtimes = co_await client->call<protocol::Runtimes>();
        for (const protocol::Profile& each : runtimes.profiles) {
            if (each.name == *profile) {
                hosts = each.domains;
            }
        }
    }
    co_return std::move(hosts);
}

struct Variables {
    std::optional<protocol::KernelVariablesResult> result;
    std::string problem; // why there are none
};

Task<Variables> variables_of(WorkspaceClient* client, std::string id) {
    Variables variables;
    protocol::KernelVariablesParams params;
    params.session_id = std::move(id);
    try {
        variables.result = co_await client->call<protocol::KernelVariables>(std::move(params));
    } catch (const Error& error) { // its kernel is busy, or does not tell
        variables.problem = error.message;
    }
    co_return std::move(variables);
}

void print_variables(const Variables& variables) {
    if (!variables.result) {
        fmt::print("variables: {}\n", escape_unprintable(variables.problem));
        return;
    }
    fmt::print("variables:{}\n", variables.result->variables.empty() ? " none" : "");
    std::vector<std::vector<std::string>> rows{{"  NAME", "TYPE", "SIZE", "VALUE"}};
    for (const protocol::KernelVariable& each : variables.result->variables) {
        rows.push_back({"  " + each.name, each.type, each.size.value_or("-"), each.value});
    }
    fmt::print("{}{}", rows.size() > 1 ? text_table(rows) : "", variables.result->truncated ? "  and more\n" : "");
}

// Makes the typed beginning of an id the id.
Task<void> complete_id(WorkspaceClient* client, SessionArguments* arguments) {
    std::vector<std::string> ids;
    const protocol::SessionListResult list = co_await client->call<protocol::SessionList>();
    for (const protocol::SessionInfo& each : list.sessions) {
        ids.push_back(each.session_id);
    }
    const std::string typed =
        std::exchange(arguments->id, chosen_id(ids, arguments->id, "sessions", ErrorCode::session_not_found));
    if (arguments->id != typed) {
        fmt::print(stderr, "cellgate: session {}\n", escape_unprintable(arguments->id));
    }
}

Task<void> show_session(WorkspaceClient* client, SessionArguments* arguments) {
    co_await complete_id(client, arguments);
    std::string id = arguments->id;
    const protocol::SessionInfo session = co_await find_session(client, std::move(id));
    std::optional<std::string> profile = session.profile;
    const std::vector<std::string> hosts = co_await hosts_of(client, std::move(profile));
    id = arguments->id;
    const Variables variables = co_await variables_of(client, std::move(id));
    id = arguments->id;
    const SessionPermissions permissions = co_await permissions_of(client, std::move(id));
    if (arguments->json) {
        fmt::print(R"({{"session":{},"hosts":{},"permissions":{},"variables":{}}})", to_json(session), to_json(hosts),
                   permissions_json(permissions), variables.result ? to_json(*variables.result) : "null");
        fmt::print("\n");
        co_return;
    }
    print_session(session);
    fmt::print("hosts without asking: {}\n",
               hosts.empty() ? "as the rules say" : escape_unprintable(fmt::format("{}", fmt::join(hosts, ", "))));
    fmt::print("limits: {}\n{}", session.limits ? to_json(*session.limits) : "none beside the defaults",
               permissions_text(permissions));
    print_variables(variables);
}

void print_started(const protocol::SessionInfo& session, const SessionArguments& arguments) {
    if (arguments.json) {
        fmt::print("{}\n", to_json(session));
    } else {
        print_session(session);
    }
}

Task<void> create_session(WorkspaceClient* client, SessionArguments* arguments) {
    protocol::SessionCreateParams params = arguments->create;
    if (!arguments->id.empty()) {
        params.session_id = arguments->id;
    }
    if (!arguments->kernel.empty()) {
        params.kernel = kernel_choice(arguments->kernel);
    }
    if (!arguments->profile.empty()) {
        params.profile = arguments->profile;
    }
    if (!arguments->cwd.empty()) {
        params.cwd = std::filesystem::absolute(arguments->cwd).lexically_normal().string();
    }
    params.env = kernel_environment(arguments->variables);
    params.sandbox = arguments->sandbox.choice();
    const protocol::SessionInfo session = co_await client->call<protocol::SessionCreate>(std::move(params));
    print_started(session, *arguments);
}

Task<void> restart_session(WorkspaceClient* client, SessionArguments* arguments) {
    co_await complete_id(client, arguments);
    std::string id = arguments->id;
    co_await find_session(client, std::move(id)); // restart itself would start one
    protocol::SessionRestartParams params;
    params.session_id = arguments->id;
    const protocol::SessionInfo session = co_await client->call<protocol::SessionRestart>(std::move(params));
    print_started(session, *arguments);
}

template <class Method>
Task<void> change_session(WorkspaceClient* client, SessionArguments* arguments) {
    co_await complete_id(client, arguments);
    protocol::SessionParams params = arguments->params();
    const Empty result = co_await client->call<Method>(std::move(params));
    if (arguments->json) {
        fmt::print("{}\n", to_json(result));
    }
}

void add_create_options(CLI::App& command, SessionArguments& arguments) {
    command.add_option("ID", arguments.id, "What it is called; default: a new name")->type_name("");
    CLI::Option* language =
        command.add_option("--language", arguments.create.language, "As kernels spell it: typescript. Default: python")
            ->type_name("NAME");
    add_kernel(command, arguments.kernel);
    command.get_option("--kernel")->excludes(language);
    add_profile(command, arguments.profile);
    command.add_option("--cwd", arguments.cwd, "Where it starts; default: the workspace")
        ->check(existing_folder())
        ->type_name("DIR");
    add_kernel_environment(command, "--env", arguments.variables);
    arguments.sandbox.add_to(command);
}

} // namespace

void add_session(CLI::App& app, Invocation& invocation) {
    CLI::App* command =
        app.add_subcommand("session", "The sessions of the workspace's sidecar: list, create, show and end them");
    Parts<SessionArguments> parts(*command, invocation, beside_sidecar(list_sessions));
    parts.add("list", "List the sessions", beside_sidecar(list_sessions));
    std::string& id = parts.arguments().id;
    add_create_options(parts.add("create", "Start a kernel in a session of its own", beside_sidecar(create_session)),
                       parts.arguments());
    parts.add("show", "Show a session: its kernel, sandbox and variables, and what its code may do",
              beside_sidecar(show_session), "ID", id);
    parts.add("restart", "End its kernel and start a new one; what waits is cancelled", beside_sidecar(restart_session),
              "ID", id);
    parts.add("interrupt", "Interrupt what runs in it; what waits stays",
              beside_sidecar(change_session<protocol::SessionInterrupt>), "ID", id);
    parts.add("close", "End its kernel and forget it", beside_sidecar(change_session<protocol::SessionClose>), "ID",
              id);
    for (const char* part : {"show", "restart", "interrupt", "close"}) {
        command->get_subcommand(part)->get_option("ID")->description(
            "As `list` shows it, or a beginning of it that no other has");
    }
}

} // namespace cellgate::cli
