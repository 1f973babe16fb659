#pragma once
// `ApprovalPrompt` asks about one approval at the terminal: the action as the sidecar rendered it, the source line of
// the call, and the choices. Without a terminal there is none: the gate denies.

#include "prompt_queue.hpp"
#include "protocol/messages/policy.hpp"

#include <functional>
#include <optional>
#include <string>

namespace cellgate::cli {

class ApprovalPrompt final : public Prompt {
  public:
    // Called for an accepted answer; may be empty.
    using OnAnswered = std::function<void(const protocol::Approval&, const protocol::ApprovalRespondParams&)>;
    // Calls approval/respond.
    using Respond = std::function<Task<Empty>(protocol::ApprovalRespondParams)>;
    ApprovalPrompt(protocol::Approval approval, Respond respond, PromptQueue& queue, OnAnswered on_answered = {})
        : Prompt(prompt_id(approval.approval_id)), approval_(std::move(approval)), respond_(std::move(respond)),
          queue_(queue), on_answered_(std::move(on_answered)) {}

    // The whole action, and the line that makes it, as each prompt shows it.
    static std::string question_text(const protocol::Approval& approval, std::size_t columns);
    static std::string prompt_id(const std::string& approval_id) { return "approval " + approval_id; }

    // The beginning of its id, by which `cellgate approvals` shows and takes it. Ids are random: no other has it.
    static std::string short_id(const std::string& approval_id) { return approval_id.substr(0, 8); }

    std::string heading(std::size_t columns) const override;
    Task<bool> ask() override;

  private:
    Task<bool> deny(bool may_say_why);
    std::optional<std::string> editable() const; // on one line, as JSON
    Task<bool> edit();
    Task<bool> respond(protocol::ApprovalRespondParams params);
    Task<void> send(protocol::ApprovalRespondParams params);

    protocol::Approval approval_;
    Respond respond_;
    PromptQueue& queue_;
    OnAnswered on_answered_;
};

} // namespace cellgate::cli
