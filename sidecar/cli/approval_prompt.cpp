#include "approval_prompt.hpp"

#include "base/escape_unprintable.hpp"
#include "gate/question_lines.hpp"
#include "prompt_text.hpp"
#include "protocol/origin_text.hpp"

#include <charconv>

namespace cellgate::cli {

namespace {

constexpr std::size_t max_typed_line_bytes = 4095; // of a line that the terminal edits; it drops the rest

} // namespace

std::string ApprovalPrompt::question_text(const protocol::Approval& approval, std::size_t columns) {
    std::string text;
    for (const std::string& line : gate::question_lines(approval)) {
        text += prompt_lines(line, columns);
    }
    if (approval.origin) {
        text += prompt_lines("from " + protocol::origin_text(*approval.origin), columns);
    }
    return text;
}

std::string ApprovalPrompt::heading(std::size_t columns) const {
    std::string text = "\n== cellgate asks =====================================================\n";
    text += question_text(approval_, columns) + "\n";
    for (std::size_t i = 0; i < approval_.choices.size(); ++i) {
        text += prompt_lines(fmt::format("{}  {}", i + 1, approval_.choices[i].label), columns);
    }
    text += "  d  deny, and say why\n";
    if (editable()) {
        text += approval_.action.arguments_text ? "  e  change the arguments, then allow that one call\n"
                                                : "  e  change the request, then allow that one\n";
    }
    return text;
}

std::optional<std::string> ApprovalPrompt::editable() const {
    return approval_.edit_text ? std::optional(RawJson::checked(*approval_.edit_text).text()) : std::nullopt;
}

Task<bool> ApprovalPrompt::ask() {
    std::string question = "  your answer: ";
    const std::optional<std::string> typed = co_await queue_.terminal().ask(std::move(question));
    if (!typed || *typed == "d") {
        co_return co_await deny(typed.has_value());
    }
    if (*typed == "e" && editable()) {
        co_return co_await edit();
    }
    std::size_t number = 0;
    const auto [end, status] = std::from_chars(typed->data(), typed->data() + typed->size(), number);
    if (status != std::errc() || end != typed->data() + typed->size() || number == 0 ||
        number > approval_.choices.size()) {
        queue_.terminal().write(fmt::format("  expected a number from 1 to {}, d{}\n", approval_.choices.size(),
                                            editable() ? " or e" : ""));
        co_return false;
    }
    protocol::ApprovalRespondParams params;
    params.decision = protocol::Verdict::allow;
    params.scope = approval_.choices[number - 1].scope;
    params.rule = approval_.choices[number - 1].rule;
    co_return co_await respond(std::move(params));
}

Task<bool> ApprovalPrompt::deny(bool may_say_why) {
    protocol::ApprovalRespondParams params;
    params.decision = protocol::Verdict::deny;
    if (may_say_why) {
        std::string why = "  why (told to the code; may be empty): ";
        const std::optional<std::string> reason = co_await queue_.terminal().ask(std::move(why));
        if (reason && !reason->empty()) {
            params.reason = *reason;
        }
    }
    co_return co_await respond(std::move(params));
}

Task<bool> ApprovalPrompt::edit() {
    Terminal& terminal = queue_.terminal();
    std::string question = prompt_lines("now:  " + escape_unprintable(editable().value_or("")), terminal.columns());
    question +=
        fmt::format("  new {}, as JSON on one line: ", approval_.action.arguments_text ? "arguments" : "request");
    const std::optional<std::string> arguments = co_await terminal.ask(std::move(question));
    if (!arguments || check_json(*arguments)) {
        const bool too_long = arguments && arguments->size() >= max_typed_line_bytes;
        terminal.write(too_long ? fmt::format("  a terminal takes no more than {} bytes in a line; what was typed is "
                                              "longer\n",
                                              max_typed_line_bytes)
                                : "  that is not JSON\n");
        co_return false;
    }
    protocol::ApprovalRespondParams params;
    params.decision = protocol::Verdict::allow;
    params.arguments_text = *arguments;
    co_return co_await respond(std::move(params));
}

Task<bool> ApprovalPrompt::respond(protocol::ApprovalRespondParams params) {
    params.approval_ids.push_back(approval_.approval_id);
    if (approval_.confirm && params.decision == protocol::Verdict::allow) {
        queue_.terminal().write("  touch your security key…\n");
    }
    co_return co_await queue_.send(send(std::move(params)));
}

Task<void> ApprovalPrompt::send(protocol::ApprovalRespondParams params) {
    protocol::ApprovalRespondParams sent = params;
    co_await respond_(std::move(sent));
    if (on_answered_) {
        on_answered_(approval_, params);
    }
}

} // namespace cellgate::cli
