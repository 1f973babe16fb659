#include "record/trace_ids.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>

namespace cellgate::record {

namespace {

constexpr std::size_t trace_digits = 32;
constexpr std::size_t span_digits = 16;

TraceIds ids_of(const std::string& what) {
    const std::string hash = sha256(what);
    return {hash.substr(0, trace_digits), hash.substr(trace_digits, span_digits)};
}

} // namespace

TraceIds ids_of_execution(const std::string& run, const std::string& execution_id) {
    return ids_of(fmt::format("cellgate execution {} {}", run, execution_id));
}

TraceIds ids_of_action(const std::string& run, std::int64_t number, const std::optional<std::string>& execution_id) {
    TraceIds ids = ids_of(fmt::format("cellgate action {} {}", run, number));
    if (execution_id) {
        ids.trace_id = ids_of_execution(run, *execution_id).trace_id;
    }
    return ids;
}

std::string trace_parent(const TraceIds& ids) {
    return fmt::format("00-{}-{}-01", ids.trace_id, ids.span_id);
}

} // namespace cellgate::record
