#include "guarded_names.hpp"

#include <algorithm>

namespace cellgate::helper {

namespace {

std::vector<std::string> take_list(const std::string& text, std::size_t& at) {
    std::vector<std::string> list;
    while (at < text.size()) {
        std::string each = text.c_str() + at;
        at += each.size() + 1;
        if (each.empty()) {
            break;
        }
        list.push_back(std::move(each));
    }
    return list;
}

// As file systems take it for the same that ignore case, or dots and spaces at the end.
std::string folded(std::string_view name) {
    std::string same(name.substr(0, name.find_last_not_of("/. ") + 1));
    for (char& c : same) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return same;
}

} // namespace

GuardedNames::GuardedNames(const std::string& text) {
    std::size_t at = 0;
    names_ = take_list(text, at);
    for (const std::string& place : take_list(text, at)) {
        struct stat status{};
        if (::stat(place.c_str(), &status) == 0) {
            scratch_.insert(status.st_dev);
        }
    }
    shown_ = take_list(text, at);
}

bool GuardedNames::keep(const Place& place) const {
    return !scratch_.contains(place.folder.status.st_dev) && (is_guarded(place.name) || keep(place.folder));
}

bool GuardedNames::keep(const Held& held) const {
    if (scratch_.contains(held.status.st_dev)) {
        return false;
    }
    const std::string path = path_of(held);
    return path.empty() || lies_below_guarded(path);
}

bool GuardedNames::is_guarded(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), folded(name)) != names_.end();
}

bool GuardedNames::lies_below_guarded(const std::string& path) const {
    std::size_t at = std::string::npos; // behind the innermost of the folders that hold it
    for (const std::string& folder : shown_) {
        if (path.starts_with(folder) && path[folder.size()] == '/' && (at == std::string::npos || folder.size() > at)) {
            at = folder.size();
        }
    }
    while (at < path.size()) {
        const std::size_t end = std::min(path.find('/', at + 1), path.size());
        if (is_guarded(std::string_view(path).substr(at + 1, end - at - 1))) {
            return true;
        }
        at = end;
    }
    return false;
}

} // namespace cellgate::helper
