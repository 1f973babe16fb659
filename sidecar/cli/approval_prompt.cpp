#include "approval_prompt.hpp"

#include "base/escape_unprintable.hpp"
#include "gate/question_lines.hpp"
#include "prompt_text.hpp"

#include <algorithm>
#include <charconv>

namespace cellgate::cli {

namespace {

constexpr std::size_t max_typed_line_bytes = 4095; // of a line that the terminal edits; it drops the rest

std::string render(const protocol::Approval& approval, std::size_t columns) {
    std::string text = "\n== cellgate asks =====================================================\n";
    for (const std::string& line : gate::question_lines(approval)) {
        text += prompt_lines(line, columns);
    }
    if (approval.origin) {
        // `text` was escaped by the sidecar; the number is the code's claim.
        text += prompt_lines(
            fmt::format("from line {} (reported by the code): {}", approval.origin->line + 1, approval.origin->text),
            columns);
    }
    text += "\n";
    for (std::size_t i = 0; i < approval.choices.size(); ++i) {
        text += prompt_lines(fmt::format("{}  {}", i + 1, approval.choices[i].label), columns);
    }
    text += "  d  deny, and say why\n";
    if (approval.action.arguments_text) {
        text += "  e  change the arguments, then allow that one call\n";
    }
    return text;
}

} // namespace

void ApprovalPrompt::requested(const protocol::Approval& approval, LocalSidecar& sidecar) {
    if (closed_) {
        return;
    }
    waiting_.push_back(approval);
    if (!std::exchange(at_work_, true)) {
        tasks_.spawn(ask_all(&sidecar));
    }
}

void ApprovalPrompt::resolved(const std::string& approval_id) {
    std::erase_if(waiting_, [&](const protocol::Approval& approval) { return approval.approval_id == approval_id; });
    if (asking_ == approval_id && question_) {
        const std::shared_ptr<CancelState> question = question_;
        question->cancel();
    }
}

Task<void> ApprovalPrompt::ask_all(LocalSidecar* sidecar) {
    printer_.pause();
    TaskScope questions;
    while (!waiting_.empty()) {
        protocol::Approval approval = std::move(waiting_.front());
        waiting_.pop_front();
        asking_ = approval.approval_id;
        question_ = questions.spawn(ask(std::move(approval), sidecar));
        co_await shielded(questions.join());
        asking_.clear();
        question_.reset();
    }
    at_work_ = false;
    printer_.resume();
}

Task<void> ApprovalPrompt::ask(protocol::Approval approval, LocalSidecar* sidecar) {
    bool shown = false;
    bool answered = false;
    bool withdrawn = false;
    try {
        const Mutex::Lock turn = co_await terminal_.turn();
        terminal_.write(render(approval, terminal_.columns()));
        shown = true;
        co_await terminal_.let_read();
        while (!answered) {
            answered = co_await answer(approval, sidecar);
        }
    } catch (const Cancelled&) {
        withdrawn = true;
    }
    if (withdrawn && shown) {
        terminal_.write("\n  (the question was withdrawn)\n");
    }
}

Task<bool> ApprovalPrompt::answer(protocol::Approval approval, LocalSidecar* sidecar) {
    std::string question = "  your answer: ";
    const std::optional<std::string> typed = co_await terminal_.ask(std::move(question));
    protocol::ApprovalRespondParams params;
    params.approval_ids.push_back(approval.approval_id);
    if (!typed || *typed == "d") {
        params.decision = protocol::Verdict::deny;
        std::string why = "  why (told to the code; may be empty): ";
        std::optional<std::string> reason;
        if (typed) {
            reason = co_await terminal_.ask(std::move(why));
        }
        if (reason && !reason->empty()) {
            params.reason = *reason;
        }
        co_return co_await respond(std::move(approval), sidecar, std::move(params));
    }
    params.decision = protocol::Verdict::allow;
    if (*typed == "e" && approval.action.arguments_text) {
        std::string edit =
            prompt_lines("now:  " + escape_unprintable(approval.action.arguments_text->text()), terminal_.columns());
        edit += "  new arguments, as JSON on one line: ";
        const std::optional<std::string> arguments = co_await terminal_.ask(std::move(edit));
        if (!arguments || check_json(*arguments)) {
            const bool too_long = arguments && arguments->size() >= max_typed_line_bytes;
            terminal_.write(too_long ? fmt::format("  a terminal takes no more than {} bytes in a line; what was typed "
                                                   "is longer\n",
                                                   max_typed_line_bytes)
                                     : "  that is not JSON\n");
            co_return false;
        }
        params.arguments_text = *arguments;
        co_return co_await respond(std::move(approval), sidecar, std::move(params));
    }
    std::size_t number = 0;
    const auto [end, status] = std::from_chars(typed->data(), typed->data() + typed->size(), number);
    if (status != std::errc() || end != typed->data() + typed->size() || number == 0 ||
        number > approval.choices.size()) {
        terminal_.write(fmt::format("  expected a number from 1 to {}, d{}\n", approval.choices.size(),
                                    approval.action.arguments_text ? " or e" : ""));
        co_return false;
    }
    params.scope = approval.choices[number - 1].scope;
    params.rule = approval.choices[number - 1].rule;
    co_return co_await respond(std::move(approval), sidecar, std::move(params));
}

Task<bool> ApprovalPrompt::respond(protocol::Approval approval, LocalSidecar* sidecar,
                                   protocol::ApprovalRespondParams params) {
    std::string problem;
    bool gone = false;
    // That our own answer resolves it does not withdraw the question.
    const std::string asking = std::exchange(asking_, {});
    try {
        protocol::ApprovalRespondParams sent = params;
        co_await sidecar->call<protocol::ApprovalRespond>(std::move(sent));
        if (on_answered_) {
            on_answered_(approval, params);
        }
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        problem = error.message;
        gone = error.code == ErrorCode::approval_resolved || error.code == ErrorCode::approval_not_found;
    }
    if (!problem.empty()) {
        terminal_.write(prompt_lines(escape_unprintable(problem), terminal_.columns()));
        asking_ = asking;
    }
    co_return problem.empty() || gone;
}

Task<void> ApprovalPrompt::close() {
    closed_ = true;
    waiting_.clear();
    if (const std::shared_ptr<CancelState> question = question_) {
        question->cancel();
    }
    co_await tasks_.join();
}

} // namespace cellgate::cli
