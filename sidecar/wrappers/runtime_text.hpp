#pragma once
// `runtime_text` is the text of _runtime.py, joined from sidecar/kernel/runtime; it is written into every package.

#include <string_view>

namespace cellgate::wrappers {

extern const std::string_view runtime_text;

} // namespace cellgate::wrappers
