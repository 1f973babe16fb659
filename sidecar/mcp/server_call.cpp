#include "server_call.hpp"

#include <fmt/format.h>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_report_bytes = 500;

} // namespace

void Server::Call::report(std::string message) {
    if (ended) {
        return;
    }
    message.resize(std::min(message.size(), max_report_bytes));
    if (task) {
        task->message = message;
        changed();
    }
    // The extension has no progress for tasks; 2025-11-25 has.
    if (caller.progress_token && !(task && caller.era == Era::modern)) {
        std::string progress = R"({"progressToken":)" + caller.progress_token->text() +
                               fmt::format(R"(,"progress":{},"message":)", ++reports);
        append_json_string(progress, message);
        server.before_message_(caller.beside);
        server.peer_.notify_raw("notifications/progress", RawJson::checked(progress + "}"));
    }
}

Task<Consent> Server::Call::ask(ConsentRequest question) {
    if (caller.era == Era::legacy && !task) {
        RawJson form = consent_params(question);
        server.before_message_(caller.beside);
        const RawJson answer = co_await server.peer_.call_raw("elicitation/create", std::move(form));
        co_return consent_of(answer, question);
    }
    const auto asked = std::make_shared<Elicitation>();
    asked->key = ++questions == 1 ? std::string(consent_key) : fmt::format("{}-{}", consent_key, questions);
    asked->question = std::move(question);
    elicitations.push_back(asked);
    changed();
    co_return co_await finally(asked->answer.get(), withdraw(asked));
}

Task<void> Server::Call::withdraw(std::shared_ptr<Elicitation> asked) {
    std::erase(elicitations, asked);
    changed();
    co_return;
}

void Server::Call::answer(std::shared_ptr<Elicitation> asked, Consent consent) {
    if (std::erase(elicitations, asked) != 0) {
        asked->answer.resolve(consent);
        changed();
    }
}

void Server::Call::changed() {
    if (task) {
        task->updated = server.clock_.wall();
    }
    moved.notify();
}

} // namespace cellgate::mcp
