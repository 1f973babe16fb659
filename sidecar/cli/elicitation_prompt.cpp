#include "elicitation_prompt.hpp"

#include "base/escape_unprintable.hpp"
#include "elicitation_text.hpp"
#include "prompt_text.hpp"

namespace cellgate::cli {

std::string ElicitationPrompt::heading(std::size_t columns) const {
    return elicitation_heading(elicitation_, columns);
}

Task<bool> ElicitationPrompt::ask() {
    protocol::ElicitationRespondParams params;
    params.elicitation_id = elicitation_.elicitation_id;
    std::string question = "  open it in a browser, then answer: [y] opened, [d]ecline, [c]ancel: ";
    if (elicitation_.fields) {
        const std::optional<std::string> values = co_await fill_in();
        if (!values) {
            co_return co_await queue_.send(send(std::move(params)));
        }
        params.values = RawJson::checked("{" + *values + "}");
        question = "  send? [y]es, [d]ecline, [c]ancel: ";
    }
    params.action = co_await decide(std::move(question));
    if (params.action != protocol::ElicitationAction::accept) {
        params.values.reset();
    }
    co_return co_await queue_.send(send(std::move(params)));
}

Task<std::optional<std::string>> ElicitationPrompt::fill_in() {
    std::string members;
    for (const protocol::ElicitationField& field : *elicitation_.fields) {
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
    queue_.terminal().write(field_heading(field, queue_.terminal().columns()));
    while (true) {
        std::string question = "  your answer: ";
        const std::optional<std::string> line =
            co_await queue_.terminal().ask(std::move(question), field.secret.value_or(false));
        if (!line) {
            co_return std::nullopt;
        }
        TypedValue typed = typed_value(field, *line);
        if (typed.problem.empty()) {
            co_return typed.json.value_or("");
        }
        queue_.terminal().write(prompt_lines(escape_unprintable(typed.problem), queue_.terminal().columns()));
    }
}

Task<protocol::ElicitationAction> ElicitationPrompt::decide(std::string question) {
    while (true) {
        std::string asked = question;
        const std::optional<std::string> line = co_await queue_.terminal().ask(std::move(asked));
        if (!line || *line == "c" || *line == "cancel") {
            co_return protocol::ElicitationAction::cancel;
        }
        if (*line == "y" || *line == "yes") {
            co_return protocol::ElicitationAction::accept;
        }
        if (*line == "d" || *line == "decline") {
            co_return protocol::ElicitationAction::decline;
        }
        queue_.terminal().write("  expected y, d or c\n");
    }
}

Task<void> ElicitationPrompt::send(protocol::ElicitationRespondParams params) {
    co_await sidecar_.call<protocol::ElicitationRespond>(std::move(params));
}

} // namespace cellgate::cli
