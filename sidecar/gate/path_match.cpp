#include "path_match.hpp"

#include "base/visible_text.hpp"

#include <climits>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <deque>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace cellgate::gate {

namespace {

std::vector<std::string> components(std::string_view path) {
    std::vector<std::string> parts;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        if (end > 0 && path.substr(0, end) != ".") {
            parts.emplace_back(path.substr(0, end));
        }
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return parts;
}

std::string join(const std::vector<std::string>& parts) {
    std::string path;
    for (const std::string& part : parts) {
        path += '/';
        path += part;
    }
    return path.empty() ? "/" : path;
}

std::string absolute(std::string_view path, std::string_view root) {
    return path.starts_with('/') ? std::string(path) : std::string(root) + "/" + std::string(path);
}

// ".." taken away by text alone, as some servers do it.
std::string lexical(std::string_view path) {
    std::vector<std::string> kept;
    for (std::string& part : components(path)) {
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

bool is_inside(std::string_view path, std::string_view folder) {
    return folder == "/" || path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

} // namespace

bool is_plain_path(std::string_view value) {
    constexpr std::string_view quotes = " '\"`";
    return !value.empty() && value.front() != '~' && value.find_first_of("$%\\") == std::string_view::npos &&
           quotes.find(value.front()) == std::string_view::npos &&
           quotes.find(value.back()) == std::string_view::npos && !has_scheme(value) && visible_text(value) == value;
}

std::optional<std::string> resolve_path(std::string_view path, std::string_view root) {
    constexpr int most_links = 40;
    std::vector<std::string> resolved;
    std::vector<std::string> first = components(absolute(path, root));
    std::deque<std::string> rest(first.begin(), first.end());
    int links = 0;
    bool missing = false;
    while (!rest.empty()) {
        std::string part = std::move(rest.front());
        rest.pop_front();
        if (part == "..") {
            if (missing) {
                return std::nullopt;
            }
            if (!resolved.empty()) {
                resolved.pop_back();
            }
            continue;
        }
        resolved.push_back(std::move(part));
        if (missing) {
            continue;
        }
        const std::string here = join(resolved);
        struct stat found{};
        if (here == "/proc") {
            return std::nullopt; // its links mean something else to every process
        }
        if (::lstat(here.c_str(), &found) != 0) {
            if (errno != ENOENT) {
                return std::nullopt;
            }
            missing = true;
        } else if (S_ISLNK(found.st_mode)) {
            std::array<char, PATH_MAX> target{};
            const ssize_t length = ::readlink(here.c_str(), target.data(), target.size());
            if (length <= 0 || length == static_cast<ssize_t>(target.size()) || ++links > most_links) {
                return std::nullopt;
            }
            const std::string_view text(target.data(), static_cast<std::size_t>(length));
            resolved.pop_back();
            if (text.front() == '/') {
                resolved.clear();
            }
            const std::vector<std::string> more = components(text);
            rest.insert(rest.begin(), more.begin(), more.end());
        }
    }
    return join(resolved);
}

Match path_under(std::string_view value, std::string_view folder, std::string_view root) {
    const std::optional<std::string> place = resolve_path(folder, root);
    if (!place || !is_plain_path(value) || value.size() >= PATH_MAX) {
        return Match::unclear;
    }
    const std::optional<std::string> path = resolve_path(value, root);
    const std::optional<std::string> by_text =
        has_parent_component(value) ? resolve_path(lexical(absolute(value, root)), root) : path;
    if (!path || !by_text || is_inside(*path, *place) != is_inside(*by_text, *place)) {
        return Match::unclear;
    }
    return is_inside(*path, *place) ? Match::yes : Match::no;
}

Match glob_match(std::string_view value, std::string_view pattern) {
    constexpr std::size_t longest_value = std::size_t{16} << 10;
    if (value.size() > longest_value || value.find('\0') != std::string_view::npos || has_parent_component(value)) {
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
