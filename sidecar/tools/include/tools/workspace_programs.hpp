#pragma once
// `add_workspace_programs` makes the programs of a workspace that a command names part of the command's identity. A
// cell can write most files of the workspace, so such a program is another one once its bytes have changed. What it
// loads in its turn is not looked at. For tool servers, and for a workspace's kernel.

#include "base/fingerprint.hpp"

#include <string>
#include <vector>

namespace cellgate::tools {

// Throws Error{config_invalid} for a program that cannot be read. `workspace`: a canonical path.
void add_workspace_programs(Fingerprint& text, const std::vector<std::string>& command, const std::string& cwd,
                            const std::string& workspace);

} // namespace cellgate::tools
