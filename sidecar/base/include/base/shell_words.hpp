#pragma once
// `shell_word` and `shell_words` quote commands that a user can copy into a shell; `first_command` and `plain_words`
// read such a line.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate {

// One word of a POSIX shell, in single quotes if it needs them.
std::string shell_word(std::string_view text);
std::string shell_words(const std::vector<std::string>& words);

// The words of the first command of a line, up to an operator or a comment, without redirections. Nothing if only a
// shell can expand them: variables, substitutions, `*` and `?`, braces, an open quote, a continued line, and a `<` or
// `>` that touches a word.
std::optional<std::vector<std::string>> first_command(std::string_view line);

// The words of a line in which a shell would do nothing but take quotes and backslashes away. Nothing for any other
// line, such as one with a variable, a pipe or an open quote.
std::optional<std::vector<std::string>> plain_words(std::string_view line);

} // namespace cellgate
