#pragma once
// `signature` is how a tool's wrapper is called, in a line or two: for a reader who chooses a tool, not for a compiler.

#include "protocol/tool_spec.hpp"

#include <string>

namespace cellgate::wrappers {

// `mcptools.fs.edit_file.run(path: str, edits: List[Edit], dryRun: bool = ...) -> Result(content: str)`, then the
// classes that the arguments need, as `Edit(oldText: str, newText: str)`. At most about 1,000 bytes; empty for a schema
// from which no wrapper can be made. Names may get a number in a package where two would be alike.
std::string signature(const std::string& server, const protocol::ToolSpec& tool);

} // namespace cellgate::wrappers
