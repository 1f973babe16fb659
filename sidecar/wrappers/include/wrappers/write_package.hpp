#pragma once
// Puts a package's files on the disk. The folder may be in a workspace that is not trusted: nothing is followed out of
// it, no file is half written, and what cellgate did not make is not touched.

#include "wrappers/generate.hpp"

#include <filesystem>

namespace cellgate::wrappers {

// Writes the package under `out_dir`/mcptools and removes the server's modules that it no longer has. Each file is
// replaced as a whole, or left as it is when it is the same already. A package that was made for a server of another
// name is left alone. Throws Error{wrapper_failed}; the files that were there before are then still whole.
void write_package(const Package& package, const std::filesystem::path& out_dir);

} // namespace cellgate::wrappers
