#pragma once
// `find_host_program` finds a program that cellgate starts outside every sandbox, where no code of the workspace may
// have put it.

#include "base/environment.hpp"

#include <optional>
#include <string>

namespace cellgate::tools {

// Where a program of this name is in PATH. Neither its directory nor what it resolves to may be in the workspace,
// whatever links there are; the directory is named as it really is, so that no link can be swapped. Blocks.
std::optional<std::string> find_host_program(const std::string& name, const Environment& environment,
                                             const std::string& workspace);

} // namespace cellgate::tools
