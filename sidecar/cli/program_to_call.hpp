#pragma once
// `program_to_call` is the command line's own name, for messages with a command to type, and `own_program` its path,
// for the settings of other programs.

#include <string>
#include <string_view>

namespace cellgate::cli {

// How this program is called from the current folder: by the name that the shell found in PATH, by its path below the
// folder, or by its absolute path. `invoked_as` is argv[0].
std::string program_to_call(std::string_view invoked_as);

std::string own_program();

} // namespace cellgate::cli
