#pragma once
// `runtime_text` is the text of sidecar/kernel/_runtime.py, which is written into every package folder.

#include <string_view>

namespace cellgate::wrappers {

extern const std::string_view runtime_text;

} // namespace cellgate::wrappers
