#pragma once
// `NewEntry` is something that happened in a workspace, on its way into the record; `StoredEntry` is what the record
// has of it: its number and its canonical JSON (docs/record-format.md).

#include "base/clock.hpp"
#include "base/raw_json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::record {

struct NewEntry {
    WallTime time;
    std::string type;
    std::string actor;
    std::optional<std::string> session_id;
    std::optional<std::string> execution_id;
    RawJson data; // an object; numbers that have to stay exact are strings
};

struct StoredEntry {
    std::int64_t seq = 0; // from 0, without gaps
    std::string json;
};

// The record's own entries: {"dropped": n, "error": "…"} and {"firstKept": n}.
inline constexpr std::string_view gap_type = "record.gap";
inline constexpr std::string_view pruned_type = "record.pruned";

// Data that has no canonical JSON, such as the number 1e999, becomes {"text": "…"}.
std::string entry_json(const NewEntry& entry, std::int64_t seq);

} // namespace cellgate::record
