#pragma once
// `cellgate sandbox explain HOST`: what a cell would reach, by the settings file, by the rules that are stored for the
// workspace and for its user, and by what the proxy never asks about.

#include "sandbox/domains.hpp"
#include "sandbox/settings.hpp"

#include <string>

namespace cellgate::cli {

// Whether `subject` is written as an address, though in a spelling that can be read in several ways ("127.1",
// "0x7f000001"). The proxy refuses such ones.
bool is_no_plain_address(const std::string& subject);

// Prints it. `root` is canonical; `settings` may be nothing. The exit code: 0 for what is allowed. Throws
// Error{policy_unreadable} when stored rules cannot be read.
int explain_host(const std::string& root, const sandbox::HostQuery& host, const sandbox::Settings* settings);

} // namespace cellgate::cli
