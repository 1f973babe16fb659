#pragma once
// `Server::Call` is one call of a tool, as its handler sees it, with its result. It outlives its request where the
// client comes back for the result: after a question of the modern era, and as a task.

#include "base/sync.hpp"
#include "mcp/server.hpp"
#include "server_wire.hpp"
#include "wire.hpp"

#include <algorithm>
#include <deque>

namespace cellgate::mcp {

// The caller of a request, and its era.
struct Server::Caller {
    Era era = Era::legacy;
    Implementation client;
    bool takes_forms = false;
    bool takes_tasks = false;
    std::optional<RawJson> progress_token;
    std::string beside; // its request
};

struct Server::Elicitation {
    std::string key; // unique within its call
    ConsentRequest question;
    Deferred<Consent> answer;
    bool is_shown = false; // by a request that waits for the answer: legacy tasks only
};

struct Server::Call final : ToolCall {
    Call(Server& server_, Caller caller_, RawJson params_)
        : server(server_), caller(std::move(caller_)), params(std::move(params_)) {}

    struct TaskState {
        std::string id;
        WallTime created;
        WallTime updated;
        std::string message; // of its latest progress
    };

    const Implementation& client() const override { return caller.client; }
    bool can_ask() const override { return caller.takes_forms; }
    void report(std::string message) override;
    Task<Consent> ask(ConsentRequest question) override;
    bool is_asking(const std::shared_ptr<Elicitation>& asked) const {
        return std::find(elicitations.begin(), elicitations.end(), asked) != elicitations.end();
    }
    void answer(std::shared_ptr<Elicitation> asked, Consent consent);
    // Wakes what waits for the call, and is the time of the task's last update.
    void changed();

    Server& server;
    Caller caller;        // of the present request
    const RawJson params; // of the first one
    int reports = 0;
    int questions = 0;
    std::deque<std::shared_ptr<Elicitation>> elicitations; // that wait for an answer
    std::shared_ptr<CancelState> cancel;
    std::optional<protocol::CallToolResult> result;
    std::exception_ptr error;
    bool ended = false;
    bool patience_ended = false; // it may become a task
    std::optional<TaskState> task;
    Condition moved;

  private:
    Task<void> withdraw(std::shared_ptr<Elicitation> asked);
};

} // namespace cellgate::mcp
