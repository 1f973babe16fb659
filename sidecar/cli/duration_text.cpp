#include "duration_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::cli {

std::string duration_text(std::int64_t seconds) {
    return seconds < 120    ? fmt::format("{} s", std::max<std::int64_t>(seconds, 0))
           : seconds < 7200 ? fmt::format("{} min", seconds / 60)
                            : fmt::format("{} h", seconds / 3600);
}

} // namespace cellgate::cli
