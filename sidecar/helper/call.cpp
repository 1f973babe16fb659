#include "call.hpp"

#include <sys/stat.h>
#include <utility>

namespace cellgate::helper {

Call::Start Call::read(const Path& path) const {
    return start_at(caller_.text(path.text), path.folder);
}

Call::Start Call::start_at(std::string text, int folder) const {
    Start start{std::move(text), {}};
    if (!start.text.starts_with('/')) {
        start.folder = PathWalk(caller_).start(folder);
    }
    return start;
}

void Call::require_waiting() const {
    if (!caller_.waits()) {
        throw CallError{ESRCH};
    }
}

OpenNode Call::find(const Path& path, bool follow, bool may_be_empty) const {
    Start start = read(path);
    require_waiting();
    if (start.text.empty() && may_be_empty) {
        return std::move(start.folder);
    }
    PathWalk walk(caller_);
    return find_from(walk, start, follow);
}

OpenNode Call::find_from(PathWalk& walk, const Start& start, bool follow) {
    Place place = walk.place(start.folder, start.text);
    const std::size_t slashes = place.name.find('/');
    const bool as_folder = place.name != "/" && slashes != std::string::npos;
    if (as_folder) {
        place.name.resize(slashes);
    }
    OpenNode found = follow || as_folder ? walk.follow(std::move(place)) : walk.look(place);
    if (as_folder && !S_ISDIR(found.status.st_mode)) {
        throw CallError{ENOTDIR};
    }
    return found;
}

} // namespace cellgate::helper
