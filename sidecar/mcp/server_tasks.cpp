// Calls that go on after their request was answered: MCP's tasks, by the extension of that name in the modern era and
// as 2025-11-25 has them in the legacy one.

#include "base/encoding.hpp"
#include "base/names.hpp"
#include "base/scope_exit.hpp"
#include "server_call.hpp"

#include <fmt/format.h>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_tasks = 64; // with those whose result was not taken yet
constexpr int poll_interval_ms = 1000;

struct TaskRequest {
    std::string task_id;
    std::optional<RawJson> input_responses;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("taskId", self.task_id);
        visit("inputResponses", self.input_responses);
    }
};

protocol::ErrorWithData tasks_are_not_declared() {
    return {
        static_cast<ErrorCode>(missing_client_capability),
        fmt::format("expected the extension {} among the client's capabilities", tasks_extension),
        RawJson::checked(fmt::format(R"({{"requiredCapabilities":{{"extensions":{{"{}":{{}}}}}}}})", tasks_extension))};
}

} // namespace

// ---- Tasks as they are shown ----------------------------------------------------------------------------------------

std::string_view Server::status_of(const Call& call) {
    if (!call.ended) {
        return call.elicitations.empty() ? "working" : "input_required";
    }
    if (!call.result) {
        return "cancelled";
    }
    // 2025-11-25 counts a tool's own failure as the task's.
    return call.caller.era == Era::legacy && call.result->is_error.value_or(false) ? "failed" : "completed";
}

// The members of a Task.
std::string Server::task_members(const Call& call) {
    const bool legacy = call.caller.era == Era::legacy;
    std::string text =
        fmt::format(R"("taskId":"{}","status":"{}","createdAt":"{}","lastUpdatedAt":"{}","{}":null,"{}":{})",
                    call.task->id, status_of(call), to_rfc3339(call.task->created), to_rfc3339(call.task->updated),
                    legacy ? "ttl" : "ttlMs", legacy ? "pollInterval" : "pollIntervalMs", poll_interval_ms);
    if (!call.task->message.empty()) {
        text += R"(,"statusMessage":)";
        append_json_string(text, call.task->message);
    }
    return text;
}

RawJson Server::created_task(const Call& call) {
    const std::string members = task_members(call);
    return RawJson::checked(call.caller.era == Era::legacy ? fmt::format(R"({{"task":{{{}}}}})", members)
                                                           : fmt::format(R"({{"resultType":"task",{}}})", members));
}

// ---- Requests -------------------------------------------------------------------------------------------------------

bool Server::make_task(const std::shared_ptr<Call>& call) {
    const auto ended =
        std::find_if(task_calls_.begin(), task_calls_.end(), [](const auto& each) { return each->ended; });
    if (task_calls_.size() >= max_tasks) {
        if (ended == task_calls_.end()) {
            return false;
        }
        task_calls_.erase(ended);
    }
    const WallTime now = clock_.wall();
    call->task = Call::TaskState{random_id(), now, now, {}};
    task_calls_.push_back(call);
    return true;
}

void Server::add_task_requests() {
    peer_.on_raw_request("tasks/get", [this](RawJson params, std::string) { return get_task(std::move(params)); });
    peer_.on_raw_request("tasks/update",
                         [this](RawJson params, std::string) { return update_task(std::move(params)); });
    peer_.on_raw_request("tasks/cancel",
                         [this](RawJson params, std::string) { return cancel_task(std::move(params)); });
    peer_.on_raw_request("tasks/list", [this](RawJson params, std::string) { return list_tasks(std::move(params)); });
    peer_.on_raw_request("tasks/result", [this](RawJson params, std::string beside) {
        return task_result(std::move(params), std::move(beside));
    });
}

Server::Caller Server::task_caller(const RawJson& params, std::string_view method, std::optional<Era> only) const {
    Caller caller = caller_of(params);
    const bool is_unknown = (only && caller.era != *only) || (caller.era == Era::legacy && !caller.takes_tasks);
    if (is_unknown) {
        throw Error(ErrorCode::method_not_found, fmt::format("there is no method \"{}\"", method));
    }
    if (!caller.takes_tasks) {
        throw tasks_are_not_declared();
    }
    return caller;
}

std::shared_ptr<Server::Call> Server::find_task(const RawJson& params, Era era) const {
    const auto request = from_json<TaskRequest>(params, "params");
    for (const std::shared_ptr<Call>& call : task_calls_) {
        if (call->task->id == request.task_id && call->caller.era == era) {
            return call;
        }
    }
    throw Error(ErrorCode::invalid_params, "params.taskId: expected that of a task; there is none with this one");
}

Task<RawJson> Server::get_task(RawJson params) {
    const Caller caller = task_caller(params, "tasks/get", std::nullopt);
    const std::shared_ptr<Call> call = find_task(params, caller.era);
    std::string task = task_members(*call);
    if (caller.era == Era::modern && call->result) {
        task += R"(,"result":)" + to_json(*call->result);
    }
    if (caller.era == Era::modern && !call->elicitations.empty()) {
        std::string requests;
        for (const std::shared_ptr<Elicitation>& asked : call->elicitations) {
            requests += fmt::format(R"({}"{}":{{"method":"elicitation/create","params":{}}})",
                                    requests.empty() ? "" : ",", asked->key, consent_params(asked->question).text());
        }
        task += R"(,"inputRequests":{)" + requests + "}";
    }
    co_return completed(caller.era, RawJson::checked("{" + task + "}"));
}

// Answers to what it no longer asks are ignored, as the extension has it.
Task<RawJson> Server::update_task(RawJson params) {
    const Caller caller = task_caller(params, "tasks/update", Era::modern);
    const std::shared_ptr<Call> call = find_task(params, caller.era);
    const auto responses = from_json<TaskRequest>(params, "params").input_responses;
    if (!responses || !responses->is_object()) {
        throw Error(ErrorCode::invalid_params, "params.inputResponses: expected an object");
    }
    for (const auto& [key, response] : json_members(responses->text())) {
        const auto asked = std::find_if(call->elicitations.begin(), call->elicitations.end(),
                                        [key = key](const auto& each) { return each->key == key; });
        if (asked != call->elicitations.end()) {
            const Consent consent = consent_of(RawJson::checked(std::string(response)), (*asked)->question);
            call->answer(*asked, consent);
        }
    }
    co_return completed(caller.era, RawJson::checked("{}"));
}

Task<RawJson> Server::cancel_task(RawJson params) {
    const Caller caller = task_caller(params, "tasks/cancel", std::nullopt);
    const std::shared_ptr<Call> call = find_task(params, caller.era);
    if (caller.era == Era::legacy && call->ended) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("params.taskId: expected a task that has not ended; this one is {}", status_of(*call)));
    }
    call->cancel->cancel();
    if (caller.era == Era::modern) {
        co_return completed(caller.era, RawJson::checked("{}"));
    }
    co_await end_of(call);
    co_return RawJson::checked("{" + task_members(*call) + "}");
}

Task<RawJson> Server::list_tasks(RawJson params) {
    task_caller(params, "tasks/list", Era::legacy);
    std::string tasks;
    for (const std::shared_ptr<Call>& call : task_calls_) {
        if (call->caller.era == Era::legacy) {
            tasks += fmt::format("{}{{{}}}", tasks.empty() ? "" : ",", task_members(*call));
        }
    }
    co_return RawJson::checked(R"({"tasks":[)" + tasks + "]}");
}

// ---- tasks/result of 2025-11-25 -------------------------------------------------------------------------------------

// Until the task has ended. What it asks meanwhile is asked by requests that belong to this one.
Task<RawJson> Server::task_result(RawJson params, std::string beside) {
    const Caller caller = task_caller(params, "tasks/result", Era::legacy);
    const std::shared_ptr<Call> call = find_task(params, caller.era);
    call->caller.beside = std::move(beside);
    std::shared_ptr<Elicitation> asked;
    const auto has_moved = [&] {
        const auto waiting = std::find_if(call->elicitations.begin(), call->elicitations.end(),
                                          [](const auto& each) { return !each->is_shown; });
        asked = waiting == call->elicitations.end() ? nullptr : *waiting;
        return call->ended || asked;
    };
    co_await call->moved.until(has_moved);
    while (!call->ended) {
        co_await show(call, asked);
        co_await call->moved.until(has_moved);
    }
    if (call->error) {
        throw Error(ErrorCode::invalid_params, "the task was cancelled");
    }
    co_return with_members(
        fmt::format(R"("_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{}"}}}})", call->task->id),
        to_raw_json(*call->result));
}

// Until the question was answered or withdrawn.
Task<void> Server::show(std::shared_ptr<Call> call, std::shared_ptr<Elicitation> asked) {
    asked->is_shown = true;
    const ScopeExit shown([call, asked] {
        asked->is_shown = false;
        call->moved.notify(); // another request may wait to show it
    });
    TaskScope asking;
    std::exception_ptr problem;
    asking.spawn(ask_client(call, asked, &problem));
    const auto is_over = [&] { return problem || call->ended || !call->is_asking(asked); };
    co_await finally(call->moved.until(is_over), cancel_and_join(asking));
    if (problem) {
        std::rethrow_exception(problem);
    }
}

Task<void> Server::ask_client(std::shared_ptr<Call> call, std::shared_ptr<Elicitation> asked,
                              std::exception_ptr* problem) {
    try {
        RawJson form = with_members(
            fmt::format(R"("_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{}"}}}})", call->task->id),
            consent_params(asked->question));
        before_message_(call->caller.beside);
        const RawJson answer = co_await peer_.call_raw("elicitation/create", std::move(form));
        call->answer(asked, consent_of(answer, asked->question));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        *problem = std::current_exception();
        call->moved.notify();
    }
}

} // namespace cellgate::mcp
