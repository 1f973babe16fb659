#include "elicitation_prompt.hpp"

#include "base/escape_unprintable.hpp"
#include "elicitation_text.hpp"
#include "prompt_text.hpp"

#include <algorithm>

namespace cellgate::cli {

void ElicitationPrompt::requested(const protocol::Elicitation& elicitation, LocalSidecar& sidecar) {
    if (closed_) {
        return;
    }
    waiting_.push_back(elicitation);
    if (!std::exchange(at_work_, true)) {
        tasks_.spawn(ask_all(&sidecar));
    }
}

void ElicitationPrompt::resolved(const std::string& elicitation_id) {
    std::erase_if(waiting_, [&](const protocol::Elicitation& each) { return each.elicitation_id == elicitation_id; });
    if (asking_ == elicitation_id && question_) {
        const std::shared_ptr<CancelState> question = question_;
        question->cancel();
    }
}

Task<void> ElicitationPrompt::ask_all(LocalSidecar* sidecar) {
    printer_.pause();
    TaskScope questions;
    while (!waiting_.empty()) {
        protocol::Elicitation elicitation = std::move(waiting_.front());
        waiting_.pop_front();
        asking_ = elicitation.elicitation_id;
        question_ = questions.spawn(ask(std::move(elicitation), sidecar));
        co_await shielded(questions.join());
        asking_.clear();
        question_.reset();
    }
    at_work_ = false;
    printer_.resume();
}

Task<void> ElicitationPrompt::ask(protocol::Elicitation elicitation, LocalSidecar* sidecar) {
    bool shown = false;
    bool answered = false;
    bool withdrawn = false;
    try {
        const Mutex::Lock turn = co_await terminal_.turn();
        terminal_.write(elicitation_heading(elicitation, terminal_.columns()));
        shown = true;
        co_await terminal_.let_read();
        while (!answered) {
            answered = co_await answer(elicitation, sidecar);
        }
    } catch (const Cancelled&) {
        withdrawn = true;
    }
    if (withdrawn && shown) {
        terminal_.write("\n  (the question was withdrawn)\n");
    }
}

Task<bool> ElicitationPrompt::answer(protocol::Elicitation elicitation, LocalSidecar* sidecar) {
    protocol::ElicitationRespondParams params;
    params.elicitation_id = elicitation.elicitation_id;
    std::string question = "  open it in a browser, then answer: [y] opened, [d]ecline, [c]ancel: ";
    if (elicitation.fields) {
        std::vector<protocol::ElicitationField> fields = *elicitation.fields;
        const std::optional<std::string> values = co_await fill_in(std::move(fields));
        if (!values) {
            co_return co_await respond(std::move(params), sidecar);
        }
        params.values = RawJson::checked("{" + *values + "}");
        question = "  send? [y]es, [d]ecline, [c]ancel: ";
    }
    params.action = co_await decide(std::move(question));
    if (params.action != protocol::ElicitationAction::accept) {
        params.values.reset();
    }
    co_return co_await respond(std::move(params), sidecar);
}

Task<std::optional<std::string>> ElicitationPrompt::fill_in(std::vector<protocol::ElicitationField> fields) {
    std::string members;
    for (const protocol::ElicitationField& field : fields) {
        const std::optional<std::string> value = co_await fill_in_one(field);
        if (!value) {
            co_return std::nullopt;
        }
        if (!value->empty()) {
            members += members.empty() ? "" : ",";
            append_json_string(members, field.name);
            members += ":" + *value;
        }
    }
    co_return members;
}

Task<std::optional<std::string>> ElicitationPrompt::fill_in_one(protocol::ElicitationField field) {
    terminal_.write(field_heading(field, terminal_.columns()));
    while (true) {
        std::string question = "  your answer: ";
        const std::optional<std::string> line =
            co_await terminal_.ask(std::move(question), field.secret.value_or(false));
        if (!line) {
            co_return std::nullopt;
        }
        TypedValue typed = typed_value(field, *line);
        if (typed.problem.empty()) {
            co_return typed.json.value_or("");
        }
        terminal_.write(prompt_lines(escape_unprintable(typed.problem), terminal_.columns()));
    }
}

Task<protocol::ElicitationAction> ElicitationPrompt::decide(std::string question) {
    while (true) {
        std::string asked = question;
        const std::optional<std::string> line = co_await terminal_.ask(std::move(asked));
        if (!line || *line == "c" || *line == "cancel") {
            co_return protocol::ElicitationAction::cancel;
        }
        if (*line == "y" || *line == "yes") {
            co_return protocol::ElicitationAction::accept;
        }
        if (*line == "d" || *line == "decline") {
            co_return protocol::ElicitationAction::decline;
        }
        terminal_.write("  expected y, d or c\n");
    }
}

Task<bool> ElicitationPrompt::respond(protocol::ElicitationRespondParams params, LocalSidecar* sidecar) {
    std::string problem;
    bool gone = false;
    // That our own answer resolves it does not withdraw the question.
    const std::string asking = std::exchange(asking_, {});
    try {
        co_await sidecar->call<protocol::ElicitationRespond>(std::move(params));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        problem = error.message;
        gone = error.code == ErrorCode::elicitation_not_found;
    }
    if (!problem.empty()) {
        terminal_.write(prompt_lines(escape_unprintable(problem), terminal_.columns()));
        asking_ = asking;
    }
    co_return problem.empty() || gone;
}

Task<void> ElicitationPrompt::close() {
    closed_ = true;
    waiting_.clear();
    if (const std::shared_ptr<CancelState> question = question_) {
        question->cancel();
    }
    co_await tasks_.join();
}

} // namespace cellgate::cli
