// `cellgate workspace-sidecar`: the process that the sidecar of a workspace runs in.

#include "commands.hpp"
#include "daemon/serve_workspace.hpp"
#include "log_level_option.hpp"

#include <memory>

namespace cellgate::cli {

void add_workspace_sidecar(CLI::App& app, Invocation& invocation) {
    auto options = std::make_shared<daemon::ServeWorkspaceOptions>();
    CLI::App* command = app.add_subcommand("workspace-sidecar", "The sidecar of a workspace; `connect` starts it");
    command->group(""); // internal
    command->add_option("--root", options->workspace)->required();
    command->add_option("--trace", options->trace_file);
    add_log_level(*command, options->log_level, {});
    command->callback(
        [options, &invocation] { invocation.run = [options] { return daemon::serve_workspace(*options); }; });
}

} // namespace cellgate::cli
