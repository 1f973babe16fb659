#pragma once
// `keep_alive` has a call send progress every few seconds for as long as it takes, with what it waits for: programs of
// agents give up a call that is silent for a minute, and with it the question that its user has not answered yet.

#include "base/clock.hpp"
#include "base/sync.hpp"
#include "mcp/server.hpp"

#include <functional>
#include <memory>
#include <string>

namespace cellgate::agent {

// What the call waits for now. May throw what a request does; then nothing is sent this time.
using CallStatus = std::function<Task<std::string>()>;

// Until it is cancelled.
Task<void> report_status(Clock& clock, std::shared_ptr<mcp::ToolCall> call, CallStatus status);

template <class T>
Task<T> keep_alive(Clock& clock, std::shared_ptr<mcp::ToolCall> call, CallStatus status, Task<T> body) {
    TaskScope reporting;
    reporting.spawn(report_status(clock, std::move(call), std::move(status)));
    co_return co_await finally(std::move(body), cancel_and_join(reporting));
}

} // namespace cellgate::agent
