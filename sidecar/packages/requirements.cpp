#include "packages/requirements.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/text.hpp"
#include "packages/npm_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cellgate::packages {

namespace {

constexpr std::size_t max_packages = 64;
constexpr std::size_t max_requirement_bytes = 500;
constexpr std::size_t max_quote_bytes = 80; // of what was found, in bytes

bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_one_of(char c, std::string_view others) {
    return is_alphanumeric(c) || others.find(c) != std::string_view::npos;
}

// Reads a text from its front. Each function takes what it names, or nothing.
class Reader {
  public:
    explicit Reader(std::string_view text) : rest_(text) {}

    bool at_end() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

    bool take(std::string_view word) {
        const bool here = rest_.starts_with(word);
        rest_.remove_prefix(here ? word.size() : 0);
        return here;
    }
    void blanks() {
        while (take(" ")) {
        }
    }
    // Begins with a letter or digit and goes on with these or `others`; empty when it does not.
    std::string_view run(std::string_view others) {
        std::size_t length = 0;
        while (length < rest_.size() && is_one_of(rest_[length], length == 0 ? "" : others)) {
            ++length;
        }
        const std::string_view found = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return found;
    }
    // Of a package or an extra.
    std::string_view name() {
        const std::string_view found = run("._-");
        return found.empty() || !is_alphanumeric(found.back()) ? std::string_view() : found;
    }

  private:
    std::string_view rest_;
};

// pip takes a text with one of these endings for a file, also where versions or extras come before the ending.
bool is_file_name(std::string_view text) {
    const std::string name = lower(text);
    constexpr std::array endings = {".whl", ".zip", ".tar", ".tgz", ".tbz", ".txz", ".tlz"};
    const auto ends_like_a_file = [&](std::string_view text) {
        return std::any_of(endings.begin(), endings.end(),
                           [text](std::string_view ending) { return text.ends_with(ending); });
    };
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) {
        return false;
    }
    const bool plain = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dot) + 1, name.end(), is_alphanumeric);
    return ends_like_a_file(name) || (plain && std::string_view(name).substr(0, dot).ends_with(".tar"));
}

bool take_extras(Reader& reader) {
    if (!reader.take("[")) {
        return true;
    }
    do {
        if (reader.name().empty()) {
            return false;
        }
    } while (reader.take(","));
    return reader.take("]");
}

bool take_version(Reader& reader) {
    constexpr std::array comparisons = {"===", "==", "!=", "<=", ">=", "~=", "<", ">"};
    reader.blanks();
    if (std::none_of(comparisons.begin(), comparisons.end(), [&](const char* each) { return reader.take(each); })) {
        return false;
    }
    reader.blanks();
    const std::string_view version = reader.run("._+!-");
    if (version.size() > 1 && version.ends_with('.')) {
        reader.take("*");
    }
    return !version.empty();
}

std::optional<std::string> problem_of_place(std::string_view place) {
    Reader reader(place);
    reader.take("git+");
    if (!reader.take("https://")) {
        return "which is neither https:// nor git+https://";
    }
    reader.run("._~:/?#@!$&'()*+,=%[]-");
    if (!reader.at_end() || place.ends_with("https://")) {
        return "whose URL has characters that a URL has not, or a marker";
    }
    if (place.find("@-") != std::string_view::npos) {
        return "whose revision begins with a dash";
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> problem_of_requirement(std::string_view text, bool source_builds) {
    if (text.empty() || text.size() > max_requirement_bytes) {
        return text.empty() ? "which is empty" : fmt::format("which is longer than {} bytes", max_requirement_bytes);
    }
    if (std::any_of(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; })) {
        return "which holds characters beyond plain ASCII, or that cannot be seen";
    }
    if (text.starts_with('-')) {
        return "which is an option";
    }
    if (text.starts_with("https://") || text.starts_with("git+")) {
        return fmt::format("a URL without a name: write NAME @ {}{}",
                           text.starts_with("git+") ? "git+https://…" : "https://…",
                           source_builds ? "" : ", which a user can who allows source builds");
    }
    Reader reader(text);
    const std::string_view name = reader.name();
    if (name.empty()) {
        return "which does not begin with a name";
    }
    if (!take_extras(reader)) {
        return "whose extras are not names in brackets with commas between";
    }
    Reader place = reader;
    place.blanks();
    if (place.take("@")) {
        if (!source_builds) {
            return "which says where it comes from: that is for a user who allows source builds";
        }
        place.blanks();
        return problem_of_place(place.rest());
    }
    if (is_file_name(name) || is_file_name(text)) {
        return "which pip could take for the name of a file";
    }
    if (reader.at_end()) {
        return std::nullopt;
    }
    do {
        if (!take_version(reader)) {
            return "where versions such as >=2,<3 would have to follow the name, and nothing else";
        }
        Reader further = reader;
        further.blanks();
        if (!further.take(",")) {
            break;
        }
        reader = further;
    } while (true);
    return reader.at_end() ? std::nullopt
                           : std::optional<std::string>("which goes on behind its versions; markers are not taken");
}

namespace {

// What is expected of each package, in words; and what to do where it is something else.
struct Expected {
    const char* what;
    const char* hint;
};
constexpr Expected as_pip_names_it = {"as pip names it, such as requests, requests[socks] or requests>=2,<3",
                                      "options, markers, paths and URLs are not taken; name the package alone"};
constexpr Expected as_deno_names_it = {
    "of npm as Deno imports it, such as npm:lodash, npm:lodash@^4 or npm:@std/yaml@1.0.5",
    "paths, URLs and several ranges are not taken; name the package alone, or with one version"};

template <class Problem>
void require_each(const std::vector<std::string>& packages, const Expected& expected, const Problem& problem_of) {
    if (packages.empty() || packages.size() > max_packages) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("params.packages: expected 1 to {} packages, found {}", max_packages, packages.size()));
    }
    for (std::size_t i = 0; i < packages.size(); ++i) {
        if (const std::optional<std::string> problem = problem_of(packages[i])) {
            const std::string& text = packages[i];
            const std::string shown = escape_unprintable(text.substr(0, max_quote_bytes));
            throw Error(ErrorCode::invalid_params,
                        fmt::format("params.packages[{}]: expected a package {}; found \"{}{}\", {}", i, expected.what,
                                    shown, text.size() > max_quote_bytes ? "…" : "", *problem),
                        expected.hint);
        }
    }
}

} // namespace

void require_requirements(const std::vector<std::string>& packages, bool source_builds) {
    require_each(packages, as_pip_names_it,
                 [source_builds](const std::string& text) { return problem_of_requirement(text, source_builds); });
}

PackageKind require_packages(const std::vector<std::string>& packages, bool source_builds) {
    const auto is_of_npm = [](const std::string& text) { return text.starts_with(npm_prefix); };
    if (std::none_of(packages.begin(), packages.end(), is_of_npm)) {
        require_requirements(packages, source_builds);
        return PackageKind::python;
    }
    if (!std::all_of(packages.begin(), packages.end(), is_of_npm)) {
        throw Error(ErrorCode::unsupported,
                    "params.packages: expected packages of one kind, found some of npm (npm:…) and some of Python",
                    "install them one after the other");
    }
    require_each(packages, as_deno_names_it, problem_of_npm_package);
    return PackageKind::npm;
}

} // namespace cellgate::packages
