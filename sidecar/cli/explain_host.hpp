#pragma once
// `explain_host` is `cellgate sandbox explain HOST`: whether a cell reaches the host, by the settings file, by the
// stored rules of the workspace and of its user, and by the proxy's fixed rules.

#include "protocol/messages/policy.hpp"
#include "sandbox/domains.hpp"
#include "sandbox/settings.hpp"

#include <string>

namespace cellgate::cli {

// Whether `subject` is an address in a spelling that programs read in different ways ("127.1", "0x7f000001"). The proxy
// refuses these.
bool is_ambiguous_address(const std::string& subject);

// Prints it. `workspace` is canonical; `settings` may be nothing. Returns the exit code: 0 if allowed. Throws
// Error{policy_unreadable} when stored rules cannot be read.
int explain_host(const std::string& workspace, const sandbox::HostQuery& host, const sandbox::Settings* settings,
                 bool as_json);
// One line of that answer, for a host as the user wrote it.
void print_host(const std::string& host, protocol::Effect effect, const std::string& reason, bool as_json);

} // namespace cellgate::cli
