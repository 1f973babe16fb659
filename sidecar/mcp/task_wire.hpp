#pragma once
// `ServerTask` is a call that its server goes on with after its first answer (MCP's tasks): of the extension
// io.modelcontextprotocol/tasks in the modern era, of revision 2025-11-25 in the legacy one.

#include "base/clock.hpp"
#include "base/raw_json.hpp"
#include "elicitation_wire.hpp"
#include "mcp/client.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellgate::mcp {

struct ServerTask {
    enum class Status { working, input_required, completed, failed, cancelled };

    std::string id;
    Status status = Status::working;
    std::string message;      // of the server; may be empty
    Duration poll_interval{}; // until the next tasks/get
    // Modern era only:
    RawJson result;                                             // once it is completed
    std::string error;                                          // once it has failed: the server's words
    std::vector<std::pair<std::string, InputRequest>> requests; // what it wants of the user, by keys of its own
};

// From a Task object. Throws Error{invalid_params}.
ServerTask read_task(std::string_view object);

// The task that a server made of a call in place of the result; nothing if `result` is one. Throws as read_task().
std::optional<ServerTask> read_created_task(Era era, const RawJson& result);

// Whether a tool of tools/list can be called as a task only, which is of revision 2025-11-25.
bool requires_task(std::string_view tool);

} // namespace cellgate::mcp
