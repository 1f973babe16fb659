#pragma once
// `bootstrap_text` and the others are the files of sidecar/kernel, embedded at build time.

#include <string_view>

namespace cellgate::session {

extern const std::string_view bootstrap_text;
extern const std::string_view comm_channel_text; // is sent as code
extern const std::string_view programs_text;     // this and the next two: bootstrap.py looks for them in its own folder
extern const std::string_view python_variables_text;
extern const std::string_view speedups_text;
extern const std::string_view bash_kernel_text; // uses all other files of Python
extern const std::string_view bash_variables_text;
extern const std::string_view mcptools_command_text;
extern const std::string_view transfer_py_text;
extern const std::string_view transfer_js_text; // this and the next are expressions
extern const std::string_view transfer_r_text;

} // namespace cellgate::session
