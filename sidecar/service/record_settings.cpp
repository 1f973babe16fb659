#include "record_settings.hpp"

#include "config_file.hpp"

namespace cellgate::service {

namespace {

struct RecordFile {
    static constexpr bool closed = true;
    std::optional<bool> required;
    std::optional<std::string> checkpoint_copy;
    std::optional<bool> trace_context;
    std::optional<std::int64_t> keep_days;
    std::optional<std::int64_t> max_bytes;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("required", self.required);
        visit("checkpointCopy", self.checkpoint_copy);
        visit("traceContext", self.trace_context);
        visit("keepDays", self.keep_days);
        visit("maxBytes", self.max_bytes);
    }
};

} // namespace

RecordSettings read_record_settings(const std::string& path) {
    constexpr const char* may_hold = "It may hold required and traceContext (true or false), checkpointCopy (an "
                                     "absolute path), keepDays and maxBytes (1 or more); or remove the file.";
    RecordSettings settings;
    const auto file = read_config_file<RecordFile>(path, may_hold);
    if (!file) {
        return settings;
    }
    settings.required = file->required.value_or(false);
    settings.checkpoint_copy = file->checkpoint_copy;
    if (settings.checkpoint_copy && !settings.checkpoint_copy->starts_with('/')) {
        throw Error(ErrorCode::config_invalid, path + ": checkpointCopy: expected an absolute path", may_hold);
    }
    settings.trace_context = file->trace_context.value_or(false);
    settings.keep_days = file->keep_days.value_or(settings.keep_days);
    settings.max_bytes = file->max_bytes.value_or(settings.max_bytes);
    if (settings.keep_days < 1 || settings.max_bytes < 1) {
        throw Error(ErrorCode::config_invalid, path + ": keepDays, maxBytes: expected 1 or more", may_hold);
    }
    return settings;
}

} // namespace cellgate::service
