#pragma once
// `runtime_text` is the text of _runtime.py, joined from sidecar/kernel/runtime; it is written into every package.
// `typescript_runtime_text` is that of _runtime.ts.

#include <string_view>

namespace cellgate::wrappers {

extern const std::string_view runtime_text;
extern const std::string_view typescript_runtime_text;

} // namespace cellgate::wrappers
