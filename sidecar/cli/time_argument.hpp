#pragma once
// `time_argument` is a time in an option: as RFC 3339, or how far it is from now.

#include "base/clock.hpp"

#include <string>

namespace cellgate::cli {

// "2026-01-05T09:30:00Z", or "90m": so long ago. Throws Error{invalid_params}.
WallTime time_before_now(const char* option, const std::string& text);

} // namespace cellgate::cli
