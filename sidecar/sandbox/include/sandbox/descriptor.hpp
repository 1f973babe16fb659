#pragma once
// `read_file` and `reopen_read_only` open what a launcher hands to a program by its descriptor.

#include "base/files.hpp"

#include <string>

namespace cellgate::sandbox {

// The file of that name, to be read from its start. Throws Error{internal_error}.
UniqueFd read_file(const std::string& path);

// The file that `descriptor` is open at, to be read from its start, with an offset of its own. Throws
// Error{internal_error}.
UniqueFd reopen_read_only(int descriptor);

} // namespace cellgate::sandbox
