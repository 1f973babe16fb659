#include "failed_path_finder.hpp"

#include <array>
#include <cerrno>
#include <utility>

namespace cellgate::session {

namespace {

constexpr std::size_t max_failed_paths = 4;

} // namespace

void FailedPathFinder::add(std::string_view path, int error) {
    const bool known = std::any_of(found_.begin(), found_.end(), [path](const auto& f) { return f.path == path; });
    const bool plain = !path.empty() && path.size() <= max_line_bytes / 2 &&
                       path.find_first_of(std::string_view("\n\\\0", 3)) == std::string_view::npos;
    if (plain && !known && found_.size() < max_failed_paths) {
        found_.push_back({std::string(path), error});
    }
}

void FailedPathFinder::add_absolute(std::string_view path, int error) {
    if (path.starts_with('/') && path.size() > 1) {
        add(path, error);
    }
}

void FailedPathFinder::read_complaint(std::string_view line) {
    constexpr std::array<std::pair<std::string_view, int>, 3> endings = {
        {{": No such file or directory", ENOENT}, {": Permission denied", EACCES}, {": Read-only file system", EROFS}}};
    for (const auto& [ending, error] : endings) {
        if (!line.ends_with(ending)) {
            continue;
        }
        line.remove_suffix(ending.size());
        const std::size_t colon = line.rfind(": ");
        const std::string_view what = colon == std::string_view::npos ? line : line.substr(colon + 2);
        const std::size_t before = found_.size();
        for_quoted(what, [&, code = error](std::string_view path) { add(path, code); });
        if (found_.size() == before) {
            add_absolute(what, error);
        }
        return;
    }
}

} // namespace cellgate::session
