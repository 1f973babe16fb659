#pragma once
// `RecordSettings` is what a user wants of the record of all workspaces, from the file `record.json` of cellgate's
// configuration directory.

#include <cstdint>
#include <optional>
#include <string>

namespace cellgate::service {

struct RecordSettings {
    bool required = false;                          // no action runs that cannot be recorded
    std::optional<std::string> checkpoint_copy;     // a file that each checkpoint is appended to as well
    bool trace_context = false;                     // tool servers receive the ids of their calls' spans
    std::int64_t keep_days = 365;                   // older entries are removed
    std::int64_t max_bytes = std::int64_t{1} << 30; // beyond it the oldest are
};

// A missing file means the defaults. Throws Error{config_invalid} unless the file is {"required": true,
// "checkpointCopy": "/media/usb/checkpoints", "traceContext": true, "keepDays": 30, "maxBytes": 100000000}, each field
// optional.
RecordSettings read_record_settings(const std::string& path);

} // namespace cellgate::service
