#pragma once
// `OtlpSpans` makes spans of OpenTelemetry from entries of the record: an execution, and in it each action that it
// took, from the decision to the end (https://opentelemetry.io/docs/specs/otlp/, JSON Protobuf encoding). The ids are
// record::TraceIds, so that what is exported twice is the same span.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::cli {

class OtlpSpans {
  public:
    // `workspace`: its path, an attribute of the resource.
    explicit OtlpSpans(std::string workspace) : workspace_(std::move(workspace)) {}

    // The next entry, as the record has it.
    void add(std::string_view entry);
    std::size_t size() const { return spans_.size(); }
    // An ExportTraceServiceRequest with the spans that have ended since the last one.
    std::string take();

  private:
    struct Begun {
        std::string trace_id;
        std::string span_id;
        std::optional<std::string> parent_id;
        std::string name;
        std::string start; // nanoseconds
        std::string attributes;
    };

    void begin_execution(std::string_view entry);
    void decide(std::string_view entry);
    void end(std::map<std::string, Begun>& begun, const std::string& key, std::string_view entry);
    void write(const Begun& begun, const std::string& end, std::string_view error, bool failed);

    std::string workspace_;
    std::map<std::string, Begun> executions_; // by id
    std::map<std::string, Begun> actions_;    // by run and number
    std::vector<std::string> spans_;          // as JSON
};

} // namespace cellgate::cli
