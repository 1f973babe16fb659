#pragma once
// `program_folders` are the folders that a sandbox has to show for a program, beyond the system's own. They are found
// by reading files; nothing is run. Of a Python, its prefixes; of what npm installed, the `node_modules` that it is in;
// of any other program its `bin` and the `lib` beside it (not those of a home), or the program alone. Of a script, its
// interpreter's too.

#include <map>
#include <string>
#include <vector>

namespace cellgate::tools {

// Canonical. `program` is absolute; `environment` has the PATH in which a script's `env` looks. A link or script in the
// workspace is followed to nothing outside of it but a Python: a cell may have made it.
std::vector<std::string> program_folders(const std::string& program,
                                         const std::map<std::string, std::string>& environment,
                                         const std::string& workspace);

// Those entries of PATH that a sandbox with `folders` shows.
std::string path_in_sandbox(const std::map<std::string, std::string>& environment,
                            const std::vector<std::string>& folders);

} // namespace cellgate::tools
