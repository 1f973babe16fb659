#include "path_match.hpp"

#include "base/escape_unprintable.hpp"
#include "base/paths.hpp"

#include <climits>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::gate {

namespace {

std::string join(const std::vector<std::string>& parts) {
    std::string path;
    for (const std::string& part : parts) {
        path += '/';
        path += part;
    }
    return path.empty() ? "/" : path;
}

// ".." taken away by text alone, as some servers do it.
std::string lexical(std::string_view path) {
    std::vector<std::string> kept;
    for (std::string& part : path_components(path)) {
        if (part != "..") {
            kept.push_back(std::move(part));
        } else if (!kept.empty()) {
            kept.pop_back();
        }
    }
    return join(kept);
}

bool has_parent_component(std::string_view value) {
    while (!value.empty()) {
        const std::size_t end = std::min(value.find_first_of("/\\"), value.size());
        if (value.substr(0, end) == "..") {
            return true;
        }
        value.remove_prefix(std::min(end + 1, value.size()));
    }
    return false;
}

bool has_scheme(std::string_view value) {
    const std::size_t colon = value.find(':');
    return colon != std::string_view::npos && std::all_of(value.begin(), value.begin() + colon, [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
           });
}

} // namespace

bool is_plain_path(std::string_view value) {
    constexpr std::string_view quotes = " '\"`";
    return !value.empty() && value.front() != '~' && value.find_first_of("$%\\") == std::string_view::npos &&
           quotes.find(value.front()) == std::string_view::npos &&
           quotes.find(value.back()) == std::string_view::npos && !has_scheme(value) &&
           escape_unprintable(value) == value;
}

std::string absolute_path(std::string_view path, const PathSnapshot& paths) {
    return path.starts_with('/') ? std::string(path) : paths.root() + "/" + std::string(path);
}

Match path_under(std::string_view value, std::string_view folder, PathSnapshot& paths) {
    if (!is_plain_path(value) || value.size() >= PATH_MAX) {
        return Match::unclear;
    }
    const std::string path = absolute_path(value, paths);
    const PathSnapshot::ResolvedPath* place = paths.find(absolute_path(folder, paths));
    const PathSnapshot::ResolvedPath* found = paths.find(path);
    const PathSnapshot::ResolvedPath* by_text = has_parent_component(value) ? paths.find(lexical(path)) : found;
    if (place == nullptr || found == nullptr || by_text == nullptr || !place->path || !found->path || !by_text->path ||
        is_within(*found->path, *place->path) != is_within(*by_text->path, *place->path)) {
        return Match::unclear;
    }
    return is_within(*found->path, *place->path) ? Match::yes : Match::no;
}

Match glob_match(std::string_view value, std::string_view pattern) {
    constexpr std::size_t max_value_bytes = std::size_t{16} << 10;
    if (value.size() > max_value_bytes || value.find('\0') != std::string_view::npos || has_parent_component(value)) {
        return Match::unclear;
    }
    enum class Kind { character, star, star_star };
    std::vector<std::pair<Kind, char>> tokens;
    for (std::size_t at = 0; at < pattern.size(); ++at) {
        if (pattern[at] != '*') {
            tokens.emplace_back(Kind::character, pattern[at]);
        } else if (pattern.substr(at, 2) == "**") {
            tokens.emplace_back(Kind::star_star, '*');
            ++at;
        } else {
            tokens.emplace_back(Kind::star, '*');
        }
    }
    // reached[i]: the first i tokens cover what was read so far. No pattern makes this slower than their product.
    std::vector<char> reached(tokens.size() + 1);
    reached[0] = 1;
    const auto skip_stars = [&] {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (reached[i] != 0 && tokens[i].first != Kind::character) {
                reached[i + 1] = 1;
            }
        }
    };
    skip_stars();
    for (const char c : value) {
        for (std::size_t i = tokens.size() + 1; i-- > 0;) {
            const bool stays = i < tokens.size() && reached[i] != 0 &&
                               (tokens[i].first == Kind::star_star || (tokens[i].first == Kind::star && c != '/'));
            const bool comes = i > 0 && reached[i - 1] != 0 && tokens[i - 1] == std::pair(Kind::character, c);
            reached[i] = stays || comes ? 1 : 0;
        }
        skip_stars();
    }
    return reached.back() != 0 ? Match::yes : Match::no;
}

} // namespace cellgate::gate
