#pragma once
// `write_package` writes a package's files to disk. The folder may be in an untrusted workspace: links are not
// followed, no file is left half written, and files not made by cellgate are not changed.

#include "wrappers/generate.hpp"

#include <filesystem>

namespace cellgate::wrappers {

// Writes the package under `out_dir`/mcptools and removes modules of tools that the server no longer has. Each file is
// replaced atomically, or kept if it is identical. A package made for a server of another name is not changed. Throws
// Error{wrapper_failed}; the previous files are then intact.
void write_package(const Package& package, const std::filesystem::path& out_dir);

} // namespace cellgate::wrappers
