#pragma once
// `bootstrap_text` and `speedups_text` are sidecar/kernel/bootstrap.py and speedups.py, embedded at build time.

#include <string_view>

namespace cellgate::session {

extern const std::string_view bootstrap_text;
extern const std::string_view speedups_text; // bootstrap.py looks for speedups.py in its own folder

} // namespace cellgate::session
