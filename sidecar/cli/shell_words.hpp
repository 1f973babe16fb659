#pragma once
// Commands that a person can copy into a shell.

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::cli {

// One word of a POSIX shell: as it is where that is plain, else in single quotes.
std::string shell_word(std::string_view text);
std::string shell_words(const std::vector<std::string>& words);

// How this program is called from the current folder: by the name that the shell found in PATH, by its path below the
// folder, or by its absolute path. `invoked_as` is argv[0].
std::string program_to_call(std::string_view invoked_as);

} // namespace cellgate::cli
