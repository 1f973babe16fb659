#pragma once
// `ApprovalPrompt` is the queue of approvals at the terminal: it asks about one after the other, with the action as the
// sidecar rendered it, the source line of the call, and the choices. Without a terminal there is none: the gate denies.

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
    // `on_answered`, if given, is called for each accepted answer.
    using OnAnswered = std::function<void(const protocol::Approval&, const protocol::ApprovalRespondParams&)>;
    ApprovalPrompt(Terminal& terminal, OutputPrinter& printer, OnAnswered on_answered = {})
        : terminal_(terminal), printer_(printer), on_answered_(std::move(on_answered)) {}

    void requested(const protocol::Approval& approval, LocalSidecar& sidecar);
    // Answered, withdrawn or expired: removes its prompt.
    void resolved(const std::string& approval_id);
    // Withdraws the prompt; asks nothing any more.
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
    bool at_work_ = false; // ask_all() is running
    std::string asking_;   // the id of the approval on the screen
    std::shared_ptr<CancelState> question_;
    TaskScope tasks_;
};

} // namespace cellgate::cli
