#pragma once
// `Environment` is the variables of a process; `find_program` searches its PATH.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cellgate {

using Environment = std::map<std::string, std::string>;

// Of this process.
Environment process_environment();

// The absolute entries of PATH, in order. Relative and empty ones are left out: they depend on the working directory.
std::vector<std::string> search_path(const Environment& environment);

// Whether `path` is a regular file that this process may execute. Blocks.
bool is_program(const std::string& path);

// The first program of that name in search_path(); `name` has no slash. Blocks.
std::optional<std::string> find_program(const std::string& name, const Environment& environment);

} // namespace cellgate
