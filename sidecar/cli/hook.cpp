// `cellgate hook claude`, `cellgate hook codex`: answers an agent program that asks before it calls a tool of its own,
// by the workspace's rules and users. Whatever goes wrong is a denial with its reason.

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/shell_words.hpp"
#include "commands.hpp"
#include "daemon/connect.hpp"
#include "hook_format.hpp"
#include "program_to_call.hpp"
#include "value_checks.hpp"
#include "workspace_client.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <unistd.h>

namespace cellgate::cli {

namespace {

constexpr int blocked = 2; // an exit code that blocks the call, with the reason on stderr
constexpr std::size_t max_input_bytes = std::size_t{16} << 20;
constexpr std::int64_t usual_wait = 600;
constexpr std::int64_t max_wait = 86'400;
constexpr std::int64_t start_allowance = 30; // seconds of the program's limit that a sidecar's start may take

struct HookArguments {
    const HookAgent* agent = nullptr;
    std::string workspace;
    std::int64_t wait_seconds = usual_wait;
    bool print_config = false;
    std::string event;
};

std::string read_input() {
    std::string input;
    std::array<char, std::size_t{64} << 10> bytes{};
    while (true) {
        const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            throw system_error(ErrorCode::internal_error, "the input cannot be read", errno);
        }
        if (count == 0) {
            return input;
        }
        input.append(bytes.data(), static_cast<std::size_t>(count));
        if (input.size() > max_input_bytes) {
            throw Error(ErrorCode::limit_exceeded, fmt::format("expected at most {} bytes of input", max_input_bytes));
        }
    }
}

// The project's folder, which the program may have left.
std::string workspace_of(const HookArguments& arguments) {
    if (!arguments.workspace.empty()) {
        return arguments.workspace;
    }
    const Environment environment = process_environment();
    const auto project = environment.find(std::string(arguments.agent->project_variable));
    return project == environment.end() || project->second.empty() ? "." : project->second;
}

protocol::ActionDecideParams params_of(const HookAgent& agent, const HookCall& call) {
    protocol::ActionDecideParams params;
    params.action.kind = protocol::ActionKind::tool;
    params.action.server = std::string(agent.name);
    params.action.tool = call.tool;
    params.action.arguments_text = call.arguments;
    params.action.cwd = call.cwd;
    params.client_session = call.session;
    return params;
}

Task<void> decide(async::Loop* loop, const HookArguments* arguments, const HookCall* call,
                  protocol::ActionDecideResult* result) {
    daemon::WorkspaceSidecarOptions options;
    options.workspace = workspace_of(*arguments);
    std::unique_ptr<async::UnixStream> stream = co_await daemon::connect_to_workspace(*loop, std::move(options));
    WorkspaceClient client(*loop, std::move(stream), std::string(arguments->agent->title));
    protocol::ActionDecideParams params = params_of(*arguments->agent, *call);
    Task<protocol::ActionDecideResult> asked = client.ask<protocol::ActionDecide>(std::move(params));
    const Duration wait = std::chrono::seconds(arguments->wait_seconds);
    std::optional<protocol::ActionDecideResult> decided = co_await with_timeout(loop->clock(), wait, std::move(asked));
    if (!decided) {
        throw Error(ErrorCode::denied, fmt::format("no answer came within {} s", arguments->wait_seconds));
    }
    *result = std::move(*decided);
}

int block(const std::string& why) {
    fmt::print(stderr, "cellgate: {}\n", why);
    return blocked;
}

int answer(const HookArguments& arguments, const HookCall& call, protocol::ClientVerdict verdict,
           const std::string& reason) {
    const std::string text = hook_answer(*arguments.agent, call.event, verdict, reason);
    if (!text.empty() && !write_all(STDOUT_FILENO, text + "\n")) {
        return block("the answer could not be written: " + reason);
    }
    return 0;
}

int run_hook(const HookArguments& arguments) {
    std::optional<HookCall> call;
    std::string problem;
    try {
        call = parse_hook_call(read_input());
        protocol::ActionDecideResult result;
        async::Loop loop;
        loop.run(decide(&loop, &arguments, &*call, &result));
        return answer(arguments, *call, result.decision, result.reason);
    } catch (const Error& error) {
        problem = error.hint.empty() ? error.message : fmt::format("{}; {}", error.message, error.hint);
    } catch (const std::exception& error) {
        problem = error.what();
    }
    return call ? answer(arguments, *call, protocol::ClientVerdict::deny, problem) : block(problem);
}

int print_settings(const HookArguments& arguments) {
    std::string command = fmt::format("{} hook {}", shell_word(own_program()), arguments.agent->name);
    if (arguments.wait_seconds != usual_wait) {
        command += fmt::format(" --timeout {}", arguments.wait_seconds);
    }
    if (!arguments.workspace.empty()) {
        command += " --root " + shell_word(arguments.workspace);
    }
    fmt::print("{}", hook_settings(command, arguments.event, arguments.wait_seconds + start_allowance));
    fmt::print(stderr, "cellgate: this goes into {}\n", arguments.agent->settings_file);
    return 0;
}

void add_agent(CLI::App& hook, Invocation& invocation, const HookAgent& agent) {
    auto arguments = std::make_shared<HookArguments>();
    arguments->agent = &agent;
    arguments->event = agent.usual_event;
    CLI::App* command = hook.add_subcommand(
        std::string(agent.name),
        fmt::format("Answer {}: reads a call as JSON from stdin, prints the decision", agent.title));
    command
        ->add_option("--root", arguments->workspace,
                     "The workspace; default: the project's folder, or else the current directory")
        ->check(existing_folder())
        ->type_name("DIR");
    command->add_option("--timeout", arguments->wait_seconds, "How long to wait for a user; then it is denied")
        ->check(whole_number(1, max_wait))
        ->type_name("SECONDS");
    CLI::Option* config = command->add_flag("--print-config", arguments->print_config,
                                            fmt::format("Print what to write into {}", agent.settings_file));
    command
        ->add_option("--event", arguments->event,
                     fmt::format("In what is printed: {}, for each call, or {}, for what {} would ask about itself",
                                 before_each_tool, before_each_prompt, agent.title))
        ->check(one_of({std::string(before_each_tool), std::string(before_each_prompt)}))
        ->needs(config)
        ->type_name("EVENT");
    command->callback([arguments, &invocation] {
        invocation.run = [arguments] {
            return arguments->print_config ? print_settings(*arguments) : run_hook(*arguments);
        };
    });
}

} // namespace

void add_hook(CLI::App& app, Invocation& invocation) {
    CLI::App* hook = app.add_subcommand("hook", "Decide about an agent's own tool calls, as its hook");
    hook->require_subcommand(1);
    for (const HookAgent& agent : hook_agents) {
        add_agent(*hook, invocation, agent);
    }
}

} // namespace cellgate::cli
