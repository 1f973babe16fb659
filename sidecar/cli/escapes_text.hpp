#pragma once
// sidecar/kernel/escapes.py, as it was when cellgate was built.

#include <string_view>

namespace cellgate::cli {

extern const std::string_view escapes_text;

} // namespace cellgate::cli
