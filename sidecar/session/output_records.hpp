#pragma once
// `to_records` is the conversion of a kernel's outputs to journal records: it splits long text into bounded pieces.

#include "jupyter/output.hpp"

#include <vector>

namespace cellgate::session {

inline constexpr std::size_t max_stream_record_bytes = std::size_t{256} << 10;

// The output itself, or a long `stream` output as several complete outputs; their texts, joined, are the original.
std::vector<RawJson> to_records(const jupyter::Output& output, std::size_t max_bytes = max_stream_record_bytes);

} // namespace cellgate::session
