#pragma once
// The rules of the filter of system calls (system_calls.hpp says what they are for). They are compiled when cellgate is
// built, by libseccomp, so that the sidecar neither loads that nor spends time on it.

#include <string>

namespace cellgate::sandbox {

// As the kernel takes it: an array of sock_filter. Throws std::system_error.
std::string compile_system_call_filter(bool with_unix_sockets);

} // namespace cellgate::sandbox
