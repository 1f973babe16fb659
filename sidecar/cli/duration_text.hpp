#pragma once
// `duration_text` is a time in its largest useful unit, for a terminal: "90 s", "12 min", "3 h".

#include <cstdint>
#include <string>

namespace cellgate::cli {

std::string duration_text(std::int64_t seconds); // below 0: as 0

} // namespace cellgate::cli
