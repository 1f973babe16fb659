#pragma once
// `language_of_file` is the name of the language that the ending of a file means, in the spelling of kernelspecs.

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::cli {

// Nothing for an ending that is not known, and for those that `run` takes as they are: .py and .ipynb.
std::optional<std::string> language_of_file(std::string_view path);

// Kernelspecs write "R" and "r", "C++" and "c++".
bool same_language(std::string_view one, std::string_view other);

} // namespace cellgate::cli
