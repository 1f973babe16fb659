#pragma once
// `is_within` compares paths by their text. Both are absolute and resolved (or both are not): nothing is looked up.

#include <string_view>

namespace cellgate {

// Whether `path` is `directory` or below it.
inline bool is_within(std::string_view path, std::string_view directory) {
    if (directory == "/") {
        return path.starts_with('/');
    }
    return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

} // namespace cellgate
