#pragma once
// Asks the person at the terminal about approvals, one after the other: the action as the sidecar rendered it, the
// source line that makes the call, and the choices. Without a terminal nothing is asked: the gate denies by itself.

#include "local_sidecar.hpp"
#include "output_printer.hpp"
#include "terminal.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace cellgate::cli {

class ApprovalPrompt {
  public:
    // `on_answered`, when there is one, hears of each answer that was accepted.
    using OnAnswered = std::function<void(const protocol::Approval&, const protocol::ApprovalRespondParams&)>;
    ApprovalPrompt(Terminal& terminal, OutputPrinter& printer, OnAnswered on_answered = {})
        : terminal_(terminal), printer_(printer), on_answered_(std::move(on_answered)) {}

    void requested(const protocol::Approval& approval, LocalSidecar& sidecar);
    // Answered, withdrawn or expired: it is asked no longer.
    void resolved(const std::string& approval_id);
    // Withdraws what is asked; nothing is asked any more.
    Task<void> close();

  private:
    Task<void> ask_all(LocalSidecar* sidecar);
    Task<void> ask(protocol::Approval approval, LocalSidecar* sidecar);
    Task<bool> answer(protocol::Approval approval, LocalSidecar* sidecar);
    Task<bool> respond(protocol::Approval approval, LocalSidecar* sidecar, protocol::ApprovalRespondParams params);

    Terminal& terminal_;
    OutputPrinter& printer_;
    OnAnswered on_answered_;
    std::deque<protocol::Approval> waiting_;
    bool closed_ = false;
    bool at_work_ = false; // ask_all() will see what comes
    std::string asking_;   // the id of the one on the screen
    std::shared_ptr<CancelState> question_;
    TaskScope tasks_;
};

} // namespace cellgate::cli
