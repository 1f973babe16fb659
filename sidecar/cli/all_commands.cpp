#include "all_commands.hpp"

namespace cellgate::cli {

void add_commands(CLI::App& app, Invocation& invocation) {
    for (const auto add_command :
         {add_run,     add_check,   add_runtimes,   add_generate, add_call,   add_login,
          add_logout,  add_install, add_image,      add_kernels,  add_record, add_events,
          add_policy,  add_secret,  add_changes,    add_undo,     add_verify, add_doctor,
          add_sandbox, add_demo,    add_mcp,        add_connect,  add_status, add_approvals,
          add_session, add_queue,   add_servers,    add_stats,    add_limits, add_transfer,
          add_stop,    add_config,  add_completion, add_man,      add_serve,  add_workspace_sidecar,
          add_hook,    add_decider, add_lsp,        add_save}) {
        add_command(app, invocation);
    }
}

CommandTree::CommandTree() {
    app.option_defaults()->always_capture_default();
    add_commands(app, invocation);
}

} // namespace cellgate::cli
