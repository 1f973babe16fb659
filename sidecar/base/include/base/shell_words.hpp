#pragma once
// Commands that a person can copy into a shell.

#include <string>
#include <string_view>
#include <vector>

namespace cellgate {

// One word of a POSIX shell: as it is where that is plain, else in single quotes.
std::string shell_word(std::string_view text);
std::string shell_words(const std::vector<std::string>& words);

} // namespace cellgate
