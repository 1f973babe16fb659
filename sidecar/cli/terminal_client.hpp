#pragma once
// A sidecar of this process with the person at the terminal as its client: prints outputs, asks about approvals, passes
// on what the code's input() asks. Without a terminal it says no, and tells which options would have said yes. Used by
// `run`, `call` and `generate`.

#include "absent_person.hpp"
#include "approval_prompt.hpp"
#include "local_sidecar.hpp"
#include "output_printer.hpp"
#include "terminal.hpp"

#include <functional>
#include <memory>

namespace cellgate::cli {

class TerminalClient final : public ClientEvents {
  public:
    TerminalClient(async::Loop& loop, service::SidecarOptions options);
    ~TerminalClient() override;

    LocalSidecar& sidecar() { return sidecar_; }
    OutputPrinter& printer() { return printer_; }
    // What would have allowed what was denied for want of a terminal.
    std::string advice() const { return absent_.advice(); }
    // Must be awaited.
    Task<void> close();

  private:
    void on_output(const protocol::ExecuteOutputParams& output) override;
    void on_approval_requested(const protocol::Approval& approval) override;
    void on_approval_resolved(const protocol::ApprovalResolvedParams& resolved) override;
    Task<protocol::InputRequestResult> on_input_request(protocol::InputRequestParams params) override;

    OutputPrinter printer_;
    std::unique_ptr<Terminal> terminal_;
    std::unique_ptr<ApprovalPrompt> prompt_;
    AbsentPerson absent_; // where there is no prompt
    LocalSidecar sidecar_;
};

// Runs `body` with a client, closes it whatever happens, and rethrows what `body` threw; with the client's advice.
Task<void> with_terminal_client(async::Loop* loop, service::SidecarOptions options,
                                std::function<Task<void>(TerminalClient&)> body);

} // namespace cellgate::cli
