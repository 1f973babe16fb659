// `cellgate connect`: the program that editors start.

#include "commands.hpp"
#include "daemon/relay.hpp"
#include "log_level_option.hpp"
#include "run_on_loop.hpp"
#include "workspace_option.hpp"

#include <cstdint>
#include <memory>

namespace cellgate::cli {

namespace {

struct ConnectArguments {
    daemon::WorkspaceSidecarOptions sidecar;
    int exit_code = 1;
};

Task<void> relay(async::Loop* loop, ConnectArguments* arguments) {
    return daemon::relay_stdio(loop, arguments->sidecar, &arguments->exit_code);
}

} // namespace

void add_connect(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<ConnectArguments>();
    daemon::WorkspaceSidecarOptions& options = arguments->sidecar;
    options.workspace = ".";
    options.role = protocol::Role::user;
    CLI::App* command = app.add_subcommand(
        "connect", "Connect an editor, over stdin and stdout, to the workspace's sidecar, which outlives it");
    add_root(*command, options.workspace);
    command
        ->add_option("--trace", options.trace_file,
                     "If this starts the sidecar: it appends every message of every client to FILE, as JSON lines")
        ->type_name("FILE");
    command->add_flag(
        "--agent", [&options](std::int64_t) { options.role = protocol::Role::agent; },
        "As an agent: it may run code, and sees and answers no approval");
    add_log_level(*command, options.log_level, "If this starts the sidecar: what it logs");
    run_on_loop(*command, invocation, arguments, relay);
}

} // namespace cellgate::cli
