#pragma once
// `bootstrap_text` and the others are the files of sidecar/kernel, embedded at build time.

#include <string_view>

namespace cellgate::session {

extern const std::string_view bootstrap_text;
extern const std::string_view speedups_text;    // bootstrap.py looks for speedups.py in its own folder
extern const std::string_view bash_kernel_text; // uses the other three
extern const std::string_view mcptools_command_text;

} // namespace cellgate::session
