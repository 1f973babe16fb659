#pragma once
// `compile_system_call_filter` compiles the filter that every sandbox has (system_calls.hpp describes its purpose).
// That happens when cellgate is built, by libseccomp, so that the sidecar neither loads that library nor spends time on
// it.

#include <string>

namespace cellgate::sandbox {

// As the kernel takes it: an array of sock_filter. Throws std::system_error.
std::string compile_system_call_filter(bool with_unix_sockets);

// For a runtime that makes a sandbox of its own: without what it sets that up by.
std::string compile_runtime_filter();

} // namespace cellgate::sandbox
