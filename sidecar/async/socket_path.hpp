#pragma once
// What a unix socket can be called.

#include <string>

namespace cellgate::async {

// Throws Error{internal_error} for a path that the system would cut off or refuse.
void require_socket_path(const std::string& path);

} // namespace cellgate::async
