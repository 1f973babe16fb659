#pragma once
// `AskedUser` follows calls, and answers what their server asks as the test says.

#include "base/scope_exit.hpp"
#include "scripted_server.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::mcp::test {

struct AskedUser final : CallFollower {
    Task<ElicitationAnswer> ask(ElicitationQuestion question) override {
        asked.push_back(question.url ? *question.url : question.message);
        if (refuse) {
            throw Error(ErrorCode::invalid_params, "no such form");
        }
        ++waiting;
        const ScopeExit done([this] { --waiting; });
        if (!answers_at_once) {
            const auto answered = std::make_shared<Event>();
            unanswered.push_back(answered);
            co_await answered->wait();
        }
        co_return answer;
    }
    // Those that wait now.
    void answer_all() {
        for (const std::shared_ptr<Event>& each : std::exchange(unanswered, {})) {
            each->set();
        }
    }
    void on_not_asked(const std::string& why) override { not_asked.push_back(why); }

    std::vector<std::string> asked;
    std::vector<std::string> not_asked;
    int waiting = 0;
    bool answers_at_once = true;
    bool refuse = false;
    std::vector<std::shared_ptr<Event>> unanswered;
    ElicitationAnswer answer{ElicitationAction::accept, RawJson::checked(R"({"day":"monday"})")};
};

inline const char* const question = R"({"message":"when?","requestedSchema":{"type":"object","properties":{}}})";

inline std::string ask(const std::string& id, const std::string& params = question) {
    return R"({"jsonrpc":"2.0","id":")" + id + R"(","method":"elicitation/create","params":)" + params + "}";
}

} // namespace cellgate::mcp::test
