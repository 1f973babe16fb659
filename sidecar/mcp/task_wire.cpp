#include "task_wire.hpp"

#include "base/json_codec.hpp"
#include "remote_error_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace cellgate::mcp {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_task_id = 1024;
constexpr auto default_poll_interval = 1000ms;
// Whatever the server wants: the user waits for the result.
constexpr auto min_poll_interval = 50ms;
constexpr auto max_poll_interval = 10000ms;

constexpr std::array<std::string_view, 5> status_names = {"working", "input_required", "completed", "failed",
                                                          "cancelled"};

struct TaskObject {
    std::string task_id;
    std::string status;
    std::optional<std::string> status_message;
    std::optional<double> poll_interval_ms; // modern
    std::optional<double> poll_interval;    // legacy, in milliseconds, too
    std::optional<RawJson> result;
    std::optional<RawJson> error;
    std::optional<RawJson> input_requests;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("taskId", self.task_id);
        visit("status", self.status);
        visit("statusMessage", self.status_message);
        visit("pollIntervalMs", self.poll_interval_ms);
        visit("pollInterval", self.poll_interval);
        visit("result", self.result);
        visit("error", self.error);
        visit("inputRequests", self.input_requests);
    }
};

Duration poll_interval_of(const TaskObject& task) {
    const double given = task.poll_interval_ms.value_or(task.poll_interval.value_or(default_poll_interval.count()));
    const double bounded = std::clamp(given, static_cast<double>(min_poll_interval.count()),
                                      static_cast<double>(max_poll_interval.count()));
    return std::chrono::milliseconds(static_cast<std::int64_t>(bounded));
}

Error broken_task(std::string what) {
    return Error(ErrorCode::invalid_params, "the task is broken: " + std::move(what));
}

} // namespace

ServerTask read_task(std::string_view object) {
    auto read = from_json<TaskObject>(object, "task");
    if (read.task_id.empty() || read.task_id.size() > max_task_id) {
        throw broken_task(fmt::format("expected a taskId of 1 to {} bytes", max_task_id));
    }
    const auto name = std::find(status_names.begin(), status_names.end(), read.status);
    if (name == status_names.end()) {
        throw broken_task("its status is none that MCP has");
    }
    ServerTask task;
    task.id = std::move(read.task_id);
    task.status = static_cast<ServerTask::Status>(name - status_names.begin());
    task.message = read.status_message.value_or("");
    task.poll_interval = poll_interval_of(read);
    task.result = read.result.value_or(RawJson());
    task.error = read.error ? remote_error_text(protocol::parse_error(*read.error)) : std::string();
    if (read.input_requests) {
        task.requests = read_input_requests(read.input_requests->text());
    }
    return task;
}

std::optional<ServerTask> read_created_task(Era era, const RawJson& result) {
    if (era == Era::legacy) {
        const std::string_view task = json_member(result.text(), "task");
        return task.empty() ? std::nullopt : std::optional(read_task(task));
    }
    if (json_member_text(result.text(), "resultType") != "task") {
        return std::nullopt;
    }
    return read_task(result.text());
}

bool requires_task(std::string_view tool) {
    return json_member_text(json_member(tool, "execution"), "taskSupport") == "required";
}

} // namespace cellgate::mcp
