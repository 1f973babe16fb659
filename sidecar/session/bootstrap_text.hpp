#pragma once
// sidecar/kernel/bootstrap.py, as it was when the sidecar was built.

#include <string_view>

namespace cellgate::session {

extern const std::string_view bootstrap_text;

} // namespace cellgate::session
