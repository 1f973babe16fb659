#pragma once
// `language_of_file` is the name of the language that the ending of a file means, in the spelling of kernelspecs.

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::cli {

// Nothing for an ending that is not known, and for .ipynb: a notebook names its language itself.
std::optional<std::string> language_of_file(std::string_view path);

// Of a name or an ending, in any case: "TypeScript", "ts".
std::optional<std::string> language_of_name(std::string_view name);

// That a mistyped name means; empty: none, as of a word of one or two letters.
std::string nearest_language(std::string_view name);

} // namespace cellgate::cli
