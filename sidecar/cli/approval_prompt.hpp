#pragma once
// Asks the person at the terminal about approvals, one after the other: the action as the sidecar rendered it, the source
// line that makes the call, and the choices. Without a terminal nothing is asked: the gate denies by itself.

#include "local_sidecar.hpp"
#include "output_printer.hpp"
#include "terminal.hpp"

#include <deque>
#include <memory>
#include <string>

namespace cellgate::cli {

class ApprovalPrompt {
  public:
    ApprovalPrompt(Terminal& terminal, OutputPrinter& printer) : terminal_(terminal), printer_(printer) {}

    void requested(const protocol::Approval& approval, LocalSidecar& sidecar);
    // Answered, withdrawn or expired: it is asked no longer.
    void resolved(const std::string& approval_id);
    Task<void> close();

  private:
    Task<void> ask_all(LocalSidecar* sidecar);
    Task<void> ask(protocol::Approval approval, LocalSidecar* sidecar);
    Task<bool> answer(protocol::Approval approval, LocalSidecar* sidecar);
    Task<bool> respond(LocalSidecar* sidecar, protocol::ApprovalRespondParams params);

    Terminal& terminal_;
    OutputPrinter& printer_;
    std::deque<protocol::Approval> waiting_;
    std::string asking_; // the id of the one on the screen
    std::shared_ptr<CancelState> question_;
    TaskScope tasks_;
};

} // namespace cellgate::cli
