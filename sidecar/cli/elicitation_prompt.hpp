#pragma once
// `ElicitationPrompt` asks at the terminal what a tool server asks: each field in turn, and whether to send them.

#include "local_sidecar.hpp"
#include "prompt_queue.hpp"
#include "protocol/messages/policy.hpp"

#include <optional>
#include <string>

namespace cellgate::cli {

class ElicitationPrompt final : public Prompt {
  public:
    ElicitationPrompt(protocol::Elicitation elicitation, LocalSidecar& sidecar, PromptQueue& queue)
        : Prompt(prompt_id(elicitation.elicitation_id)), elicitation_(std::move(elicitation)), sidecar_(sidecar),
          queue_(queue) {}

    static std::string prompt_id(const std::string& elicitation_id) { return "elicitation " + elicitation_id; }

    std::string heading(std::size_t columns) const override;
    Task<bool> ask() override;

  private:
    // The members of `values`, as JSON; nothing at the end of input.
    Task<std::optional<std::string>> fill_in();
    // The value as JSON, empty if it is left out; nothing at the end of input.
    Task<std::optional<std::string>> fill_in_one(protocol::ElicitationField field);
    // The answer to "send?" or "opened?".
    Task<protocol::ElicitationAction> decide(std::string question);
    Task<void> send(protocol::ElicitationRespondParams params);

    protocol::Elicitation elicitation_;
    LocalSidecar& sidecar_;
    PromptQueue& queue_;
};

} // namespace cellgate::cli
