#pragma once
// `TraceIds` are the ids of an execution or an action in OpenTelemetry: the same ones for the tool server that a call
// is sent to, and for the export of the record, whenever that is made.

#include <cstdint>
#include <optional>
#include <string>

namespace cellgate::record {

struct TraceIds {
    std::string trace_id; // 32 hexadecimal digits: an execution's, for all its actions
    std::string span_id;  // 16
};

// `run`: of the sidecar, as entries name it. `number`: of the action in that run.
TraceIds ids_of_execution(const std::string& run, const std::string& execution_id);
TraceIds ids_of_action(const std::string& run, std::int64_t number, const std::optional<std::string>& execution_id);

// As the header field of W3C's Trace Context has it.
std::string trace_parent(const TraceIds& ids);

} // namespace cellgate::record
