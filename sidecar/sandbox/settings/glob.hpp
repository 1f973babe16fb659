#pragma once
// `expand_glob` finds the paths that match a pattern of a settings file: `*` and `?` match text without a slash, `[ab]`
// one of these characters, and a `**` between slashes any number of folders, also none. A dot at the start of a name is
// nothing special.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::sandbox {

bool is_glob(std::string_view path);

// What exists below `base` (canonical, taken as it is) and matches `pattern`. Links to folders are not followed by
// `**`. Only folders for which `enter` is true are looked into. `entries_left` is how many names may still be seen,
// `most` how many may match. Throws Error{sandbox_unavailable} when that does not do: what is not found would not be
// hidden.
std::vector<std::string> expand_glob(const std::string& base, const std::string& pattern,
                                     const std::function<bool(const std::string&)>& enter, int& entries_left,
                                     std::size_t most);

} // namespace cellgate::sandbox
