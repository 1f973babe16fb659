#pragma once
// `escapes_text` is sidecar/kernel/escapes/main.py with its modules, embedded at build time.

#include <string_view>

namespace cellgate::cli {

extern const std::string_view escapes_text;

} // namespace cellgate::cli
