#pragma once
// Commands that a person can copy into a shell, and what such a line says.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate {

// One word of a POSIX shell: as it is where that is plain, else in single quotes.
std::string shell_word(std::string_view text);
std::string shell_words(const std::vector<std::string>& words);

// The words of the first command of a line, up to an operator or a comment, without redirections. Nothing where only a
// shell can tell what they are: variables, substitutions, `*` and `?`, braces, a quote that does not end, a line that
// goes on in the next one, and a `<` or `>` that touches a word.
std::optional<std::vector<std::string>> first_command(std::string_view line);

} // namespace cellgate
