#pragma once
// `remote_error_text` is what a server answered in place of a result. Its code and data are text only: with them a
// server could impersonate the gate.

#include "protocol/message.hpp"

#include <string>

namespace cellgate::mcp {

std::string remote_error_text(const protocol::RemoteError& remote);

} // namespace cellgate::mcp
