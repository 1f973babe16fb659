#pragma once
// A kernel's outputs as the journal's records: text is cut into pieces of bounded size.

#include "jupyter/output.hpp"

#include <vector>

namespace cellgate::session {

inline constexpr std::size_t max_stream_record_bytes = std::size_t{256} << 10;

// The output itself, or a long `stream` output in several, each a whole one. Joined texts are the original.
std::vector<RawJson> to_records(const jupyter::Output& output, std::size_t max_bytes = max_stream_record_bytes);

} // namespace cellgate::session
