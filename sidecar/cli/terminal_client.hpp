#pragma once
// `TerminalClient` is a sidecar in this process with the user at the terminal as its client: it prints output, prompts
// for approvals and for input(). Without a terminal it denies, and names the options that would have allowed the
// action. For the commands that start a sidecar of their own.

#include "local_sidecar.hpp"
#include "non_interactive_client.hpp"
#include "output_printer.hpp"
#include "prompt_queue.hpp"
#include "run_on_loop.hpp"
#include "terminal.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace cellgate::cli {

class TerminalClient final : public ClientEvents {
  public:
    TerminalClient(async::Loop& loop, service::SidecarOptions options);
    ~TerminalClient() override;

    async::Loop& loop() { return loop_; }
    LocalSidecar& sidecar() { return sidecar_; }
    OutputPrinter& printer() { return printer_; }
    // Each `execute/output` as a line, in place of its text.
    void print_outputs_as_json() { prints_json_ = true; }
    // See NonInteractiveClient.
    std::string advice() const { return non_interactive_.advice(); }
    // How the login that it began has ended, once it has.
    Task<protocol::ToolServersLoginEndedParams> login_end() { return login_end_.get(); }
    // Must be awaited.
    Task<void> close();

  private:
    void on_output(const protocol::ExecuteOutputParams& output) override;
    void on_progress(const std::string& text) override;
    void on_approval_requested(const protocol::Approval& approval) override;
    void on_approval_resolved(const protocol::ApprovalResolvedParams& resolved) override;
    void on_login_ended(const protocol::ToolServersLoginEndedParams& ended) override { login_end_.resolve(ended); }
    void on_elicitation_requested(const protocol::Elicitation& elicitation) override;
    void on_elicitation_resolved(const protocol::ElicitationResolvedParams& resolved) override;
    Task<protocol::InputRequestResult> on_input_request(protocol::InputRequestParams params) override;

    async::Loop& loop_;
    bool prints_json_ = false;
    OutputPrinter printer_;
    std::unique_ptr<Terminal> terminal_;
    std::unique_ptr<PromptQueue> prompts_; // if there is a terminal
    NonInteractiveClient non_interactive_; // used if there is no terminal
    Deferred<protocol::ToolServersLoginEndedParams> login_end_;
    LocalSidecar sidecar_;
};

// For a workspace, in the environment of this process.
service::SidecarOptions options_of(const std::string& workspace);

// Runs `body` with a client, says which tools that the options' rules name are not there, always closes it, and
// rethrows an error of `body` with the client's advice added.
Task<void> with_terminal_client(async::Loop* loop, service::SidecarOptions options,
                                std::function<Task<void>(TerminalClient&)> body);

// The task of a subcommand: `action` with a client, of a sidecar as the arguments' member `sidecar` says, else for
// their workspace.
template <class Arguments>
LoopTask<Arguments> with_client(Task<void> (*action)(Arguments*, TerminalClient&)) {
    return [action](async::Loop* loop, Arguments* arguments) {
        service::SidecarOptions options;
        if constexpr (requires { arguments->sidecar.options(); }) {
            options = arguments->sidecar.options();
        } else {
            options = options_of(arguments->workspace);
        }
        return with_terminal_client(loop, std::move(options),
                                    [action, arguments](TerminalClient& client) { return action(arguments, client); });
    };
}

} // namespace cellgate::cli
