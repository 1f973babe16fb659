#include "protected_names.hpp"

#include <algorithm>
#include <utility>

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

// Of an absolute path, each component.
std::string folded_path(const std::string& path) {
    std::string same;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at + 1), path.size());
        same += "/" + folded(std::string_view(path).substr(at + 1, end - at - 1));
        at = end;
    }
    return same;
}

} // namespace

ProtectedNames::ProtectedNames(const std::string& text) {
    std::size_t at = 0;
    for (std::string& name : take_list(text, at)) {
        if (name.starts_with('*')) {
            endings_.push_back(name.substr(1));
        } else {
            names_.insert(std::move(name));
        }
    }
    for (const std::string& place : take_list(text, at)) {
        struct stat status{};
        if (::stat(place.c_str(), &status) == 0) {
            scratch_.insert(status.st_dev);
        }
    }
    shown_ = take_list(text, at);
    own_ = take_list(text, at);
    for (const std::string& place : take_list(text, at)) {
        places_.insert(folded_path(place));
    }
}

bool ProtectedNames::keep(const Place& place) const {
    const bool is_name = place.name.find_first_not_of("./") != std::string::npos;
    return keep_itself(place) || (is_name && !scratch_.contains(place.folder.status.st_dev) && !places_.empty() &&
                                  is_above_guarded_place(path_of(place)));
}

bool ProtectedNames::keep_itself(const Place& place) const {
    return !scratch_.contains(place.folder.status.st_dev) &&
           (is_guarded(place.name) || (!places_.empty() && is_guarded_place(path_of(place))) || keep(place.folder));
}

bool ProtectedNames::keep(const OpenNode& held) const {
    if (scratch_.contains(held.status.st_dev)) {
        return false;
    }
    const std::string path = path_of(held);
    return path.empty() || lies_below_guarded(path) || is_guarded_place(path);
}

bool ProtectedNames::is_shared(const std::string& path) const {
    const auto holds = [&path](const std::string& folder) {
        return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
    };
    return std::any_of(shown_.begin(), shown_.end(), holds) && !std::any_of(own_.begin(), own_.end(), holds);
}

bool ProtectedNames::is_guarded(std::string_view name) const {
    const std::string same = folded(name);
    return names_.contains(same) || std::any_of(endings_.begin(), endings_.end(),
                                                [&same](const std::string& ending) { return same.ends_with(ending); });
}

bool ProtectedNames::is_guarded_place(const std::string& path) const {
    if (places_.empty()) {
        return false;
    }
    for (std::string each = folded_path(path); !each.empty(); each.resize(each.rfind('/'))) {
        if (places_.contains(each)) {
            return true;
        }
    }
    return false;
}

bool ProtectedNames::is_above_guarded_place(const std::string& path) const {
    const std::string below = folded_path(path) + "/";
    const auto next = places_.lower_bound(below);
    return next != places_.end() && next->starts_with(below);
}

bool ProtectedNames::lies_below_guarded(const std::string& path) const {
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
