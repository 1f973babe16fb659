#pragma once
// `ElicitationPrompt` is the queue at the terminal of what tool servers ask: one question after the other, each field
// in turn. It shares the terminal with the approvals by Terminal::turn().

#include "local_sidecar.hpp"
#include "output_printer.hpp"
#include "protocol/messages/policy.hpp"
#include "terminal.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::cli {

class ElicitationPrompt {
  public:
    ElicitationPrompt(Terminal& terminal, OutputPrinter& printer) : terminal_(terminal), printer_(printer) {}

    void requested(const protocol::Elicitation& elicitation, LocalSidecar& sidecar);
    // Removes its prompt.
    void resolved(const std::string& elicitation_id);
    // Withdraws the prompt; asks nothing any more.
    Task<void> close();

  private:
    Task<void> ask_all(LocalSidecar* sidecar);
    Task<void> ask(protocol::Elicitation elicitation, LocalSidecar* sidecar);
    // Whether it is answered.
    Task<bool> answer(protocol::Elicitation elicitation, LocalSidecar* sidecar);
    Task<bool> respond(protocol::ElicitationRespondParams params, LocalSidecar* sidecar);
    // The members of `values`, as JSON; nothing at the end of input.
    Task<std::optional<std::string>> fill_in(std::vector<protocol::ElicitationField> fields);
    // The value as JSON, empty if it is left out; nothing at the end of input.
    Task<std::optional<std::string>> fill_in_one(protocol::ElicitationField field);
    // The answer to "send?" or "opened?".
    Task<protocol::ElicitationAction> decide(std::string question);

    Terminal& terminal_;
    OutputPrinter& printer_;
    std::deque<protocol::Elicitation> waiting_;
    bool closed_ = false;
    bool at_work_ = false; // ask_all() is running
    std::string asking_;   // the id of the elicitation on the screen
    std::shared_ptr<CancelState> question_;
    TaskScope tasks_;
};

} // namespace cellgate::cli
