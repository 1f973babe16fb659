// Calls that their server makes tasks of: the client asks how they are until they have ended, and gets their result.

#include "base/sync.hpp"
#include "failed.hpp"
#include "mcp/client.hpp"
#include "mcp/content.hpp"
#include "remote_error_text.hpp"
#include "running_call.hpp"
#include "task_wire.hpp"
#include "wire.hpp"

#include <fmt/format.h>

namespace cellgate::mcp {

namespace {

bool has_ended(const ServerTask& task) {
    return task.status != ServerTask::Status::working && task.status != ServerTask::Status::input_required;
}

std::string cancelled_text(const ServerTask& task) {
    return fmt::format("the server cancelled the task{}{}", task.message.empty() ? "" : ": ", task.message);
}

// Its status messages as the progress of the call.
class TaskProgress {
  public:
    void report(RunningCall& call, const ServerTask& task) {
        if (call.wants_progress() && !task.message.empty() && task.message != last_) {
            last_ = task.message;
            call.on_progress({static_cast<double>(++count_), std::nullopt, task.message});
        }
    }

  private:
    std::string last_;
    int count_ = 0;
};

} // namespace

std::string Client::task_params(const std::string& id, const std::string& more) const {
    std::string params = R"({"taskId":)";
    append_json_string(params, id);
    return params + more + meta(",") + "}";
}

Task<protocol::CallToolResult> Client::finish_task(std::shared_ptr<RunningCall> call, CallRequest request,
                                                   ServerTask task) {
    const std::string id = task.id;
    std::exception_ptr error;
    try {
        co_return co_await poll_task(call, std::move(request), std::move(task));
    } catch (const protocol::RemoteError& remote) {
        co_return error_result(remote_error_text(remote));
    } catch (...) {
        error = std::current_exception();
    }
    if (!is_closed()) {
        start_request("tasks/cancel", RawJson::checked(task_params(id)));
    }
    std::rethrow_exception(error);
}

Task<protocol::CallToolResult> Client::poll_task(std::shared_ptr<RunningCall> call, CallRequest request,
                                                 ServerTask task) {
    using Status = ServerTask::Status;
    TaskProgress progress;
    std::set<std::string> answered;
    while (!has_ended(task)) {
        progress.report(*call, task);
        if (task.status == Status::input_required) {
            if (era_ == Era::legacy) {
                break; // what it asks comes while it owes the result
            }
            ServerTask asking = task;
            co_await update_task(call, std::move(asking), &answered);
        }
        co_await sleep_for(clock_, task.poll_interval);
        std::string id = task.id;
        task = co_await get_task(call, std::move(id));
    }
    if (task.status == Status::cancelled) {
        co_return error_result(cancelled_text(task));
    }
    if (era_ == Era::modern && task.status == Status::failed) {
        co_return error_result(task.error.empty() ? task.message : task.error);
    }
    RawJson result = task.result;
    if (era_ == Era::legacy) {
        std::string method = "tasks/result";
        RawJson params = RawJson::checked(task_params(task.id));
        result = co_await send_call(call, std::move(method), std::move(params));
    }
    require_small(result);
    co_return read_answer(request.method, [&] { return request.read(result); });
}

Task<ServerTask> Client::get_task(std::shared_ptr<RunningCall> call, std::string id) {
    std::string method = "tasks/get";
    RawJson params = RawJson::checked(task_params(id));
    const RawJson result = co_await send_call(call, std::move(method), std::move(params));
    co_return read_answer("tasks/get", [&] { return read_task(result.text()); });
}

Task<void> Client::update_task(std::shared_ptr<RunningCall> call, ServerTask task, std::set<std::string>* answered) {
    InputRequired asked;
    for (auto& [key, request] : task.requests) {
        if (answered->insert(key).second) {
            asked.requests.emplace_back(key, std::move(request));
        }
    }
    if (asked.requests.empty()) {
        co_return;
    }
    const std::string responses = co_await answers_to(call, std::move(asked));
    std::string method = "tasks/update";
    RawJson params = RawJson::checked(task_params(task.id, responses));
    co_await send_call(call, std::move(method), std::move(params));
}

} // namespace cellgate::mcp
