#pragma once
// `same_language` compares names of languages as kernelspecs spell them.

#include <set>
#include <string>
#include <string_view>

namespace cellgate::jupyter {

// Ignores case: kernelspecs write "R" and "r", "C++" and "c++".
bool same_language(std::string_view one, std::string_view other);

// Whether a kernel for the language `spoken` runs code in `wanted`: JavaScript is TypeScript, too.
bool runs_language(std::string_view spoken, std::string_view wanted);

// The command that installs a kernel for the language, as a sentence; where none is known, the languages of the kernels
// that are `installed`.
std::string install_hint(std::string_view language, const std::set<std::string>& installed);

} // namespace cellgate::jupyter
