#pragma once
// `require_socket_path` checks the path of a unix socket.

#include <string>

namespace cellgate::async {

// Throws Error{internal_error} for a path that the system would truncate or refuse.
void require_socket_path(const std::string& path);

} // namespace cellgate::async
