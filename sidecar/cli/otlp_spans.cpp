#include "otlp_spans.hpp"

#include "base/encoding.hpp"
#include "base/json.hpp"
#include "base/json_codec.hpp"
#include "base/json_scan.hpp"
#include "base/text.hpp"
#include "record/trace_ids.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <utility>

namespace cellgate::cli {

namespace {

constexpr std::size_t max_name = 100; // bytes

std::string text_of(std::string_view object, std::string_view name) {
    return json_member_text(object, name).value_or("");
}

std::string nanoseconds(std::string_view entry) {
    const std::optional<WallTime> time = parse_rfc3339(text_of(entry, "time"));
    const auto since = time ? time->time_since_epoch() : WallTime::duration::zero();
    return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

// With a comma before it; nothing for an empty value.
std::string attribute(std::string_view key, std::string_view value) {
    return value.empty()
               ? std::string()
               : fmt::format(R"(,{{"key":"{}","value":{{"stringValue":{}}}}})", key, to_json(std::string(value)));
}

std::string first_line(const std::string& text) {
    return std::string(cut_at_character(text.substr(0, text.find('\n')), max_name));
}

// Numbers of actions are those of one run of a sidecar.
std::int64_t number_of_action(std::string_view data) {
    const std::string_view text = json_member(data, "number");
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

std::string key_of_action(std::string_view data) {
    return fmt::format("{} {}", text_of(data, "run"), json_member(data, "number"));
}

} // namespace

void OtlpSpans::add(std::string_view entry) {
    const std::string type = text_of(entry, "type");
    if (type == "execution.started") {
        begin_execution(entry);
    } else if (type == "execution.ended") {
        end(executions_, text_of(entry, "executionId"), entry);
    } else if (type == "action.decided") {
        decide(entry);
    } else if (type == "action.ended") {
        end(actions_, key_of_action(json_member(entry, "data")), entry);
    }
}

void OtlpSpans::begin_execution(std::string_view entry) {
    const std::string id = text_of(entry, "executionId");
    const std::string_view data = json_member(entry, "data");
    const record::TraceIds ids = record::ids_of_execution(text_of(data, "run"), id);
    Begun begun;
    begun.trace_id = ids.trace_id;
    begun.span_id = ids.span_id;
    begun.name = "execute " + first_line(text_of(data, "code"));
    begun.start = nanoseconds(entry);
    begun.attributes = attribute("cellgate.execution.id", id) +
                       attribute("cellgate.session.id", text_of(entry, "sessionId")) +
                       attribute("gen_ai.agent.name", text_of(data, "agent"));
    executions_[id] = std::move(begun);
}

void OtlpSpans::decide(std::string_view entry) {
    const std::string_view data = json_member(entry, "data");
    const std::string_view action = json_member(data, "action");
    const std::string run = text_of(data, "run");
    const std::optional<std::string> execution = json_member_text(entry, "executionId");
    const record::TraceIds ids = record::ids_of_action(run, number_of_action(data), execution);
    Begun begun;
    begun.trace_id = ids.trace_id;
    begun.span_id = ids.span_id;
    begun.start = nanoseconds(entry);
    if (execution) {
        begun.parent_id = record::ids_of_execution(run, *execution).span_id;
    }
    const Json display = Json::parse(json_member(data, "display"), nullptr, false);
    const bool has_title = display.is_array() && !display.empty() && display[0].is_string();
    begun.name = has_title ? first_line(display[0].get<std::string>()) : "action";
    begun.attributes = attribute("cellgate.decision", text_of(data, "decision")) +
                       attribute("cellgate.decided_by", text_of(data, "by")) +
                       attribute("cellgate.rule.id", text_of(json_member(data, "rule"), "id")) +
                       attribute("gen_ai.tool.name", text_of(action, "tool")) +
                       attribute("mcp.server.name", text_of(action, "server")) +
                       attribute("server.address", text_of(action, "host"));
    if (text_of(data, "decision") == "allow") {
        actions_[key_of_action(data)] = std::move(begun);
    } else {
        write(begun, begun.start, text_of(data, "reason"), true);
    }
}

void OtlpSpans::end(std::map<std::string, Begun>& begun, const std::string& key, std::string_view entry) {
    const auto found = begun.find(key);
    if (found == begun.end()) {
        return; // it began before the first entry
    }
    const std::string_view data = json_member(entry, "data");
    const std::string status = text_of(data, "status");
    std::string error = text_of(data, "error");
    if (error.empty()) {
        error = text_of(json_member(data, "error"), "evalue");
    }
    write(found->second, nanoseconds(entry), error.empty() ? status : error, status != "ok" && status != "succeeded");
    begun.erase(found);
}

void OtlpSpans::write(const Begun& begun, const std::string& end, std::string_view error, bool failed) {
    constexpr int internal_kind = 1;
    const std::string parent = begun.parent_id ? fmt::format(R"("parentSpanId":"{}",)", *begun.parent_id) : "";
    const std::string attributes = begun.attributes.empty() ? "" : begun.attributes.substr(1);
    const std::string status =
        failed ? fmt::format(R"({{"code":2,"message":{}}})", to_json(std::string(error))) : R"({"code":1})";
    spans_.push_back(fmt::format(R"({{"traceId":"{}","spanId":"{}",{}"name":{},"kind":{},"startTimeUnixNano":"{}",)"
                                 R"("endTimeUnixNano":"{}","attributes":[{}],"status":{}}})",
                                 begun.trace_id, begun.span_id, parent, to_json(begun.name), internal_kind, begun.start,
                                 end, attributes, status));
}

std::string OtlpSpans::take() {
    const std::vector<std::string> spans = std::exchange(spans_, {});
    const std::string resource =
        attribute("service.name", "cellgate").substr(1) + attribute("cellgate.workspace", workspace_);
    return fmt::format(R"({{"resourceSpans":[{{"resource":{{"attributes":[{}]}},"scopeSpans":[{{"scope":{{"name":)"
                       R"("cellgate","version":"{}"}},"spans":[{}]}}]}}]}})",
                       resource, CELLGATE_VERSION, fmt::join(spans, ","));
}

} // namespace cellgate::cli
