#include "restore.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cellgate::changes {

namespace {

std::string what_it_is(Kind kind) {
    constexpr std::array<std::pair<Kind, const char*>, 6> texts = {{
        {Kind::absent, "it was removed since"},
        {Kind::regular, "it is a file now"},
        {Kind::link, "it is a symbolic link now"},
        {Kind::folder, "it is a folder now"},
        {Kind::special, "it is a socket, a pipe or a device now"},
        {Kind::unreadable, "it cannot be read now"},
    }};
    return std::ranges::find(texts, kind, &std::pair<Kind, const char*>::first)->second;
}

[[noreturn]] void fail_step(const char* what, const std::string& path, int error) {
    throw system_error(ErrorCode::store_failed, std::string("cannot ") + what + " " + path, error);
}

// The first folder of the path, "a/" of "a/b/c", then "a/b/"; empty after the last.
std::string next_folder(const std::string& path, const std::string& folder) {
    const std::size_t slash = path.find('/', folder.size());
    return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

} // namespace

Restore::Restore(ObjectReader& reader, const WorkspaceFiles& workspace, std::vector<FileTransition> transitions,
                 const std::string& target, std::string temporary)
    : reader_(reader), workspace_(workspace), transitions_(std::move(transitions)), temporary_(std::move(temporary)) {
    SnapshotTree tree = reader.snapshot(target);
    target_files_ = std::move(tree.files);
    target_paths_ = std::move(tree.coverage.ignored);
    std::ranges::move(tree.coverage.bare_folders, std::back_inserter(target_paths_));
    for (LeftOut& each : tree.coverage.left_out) {
        target_paths_.push_back(std::move(each.path));
    }
    std::ranges::sort(target_paths_);
    for (const FileTransition& transition : transitions_) {
        workspace_.remove_file(sibling(transition.path, temporary_));
    }
}

std::string Restore::mismatch(const std::string& path, const std::optional<TreeEntry>& entry) {
    if (!entry) {
        const FileContent content = workspace_.read(path, 0);
        const bool absent = content.kind == Kind::absent || content.kind == Kind::folder;
        return absent ? "" : what_it_is(content.kind);
    }
    const std::string bytes = reader_.blob(entry->blob);
    const FileContent content = workspace_.read(path, bytes.size());
    if (content.kind != kind_of(entry->mode)) {
        return what_it_is(content.kind);
    }
    if (content.too_large || content.bytes != bytes) {
        return "its content was changed since";
    }
    return content.kind == Kind::regular && content.mode != entry->mode ? "its mode was changed since" : "";
}

bool Restore::removes(const std::string& path) const {
    const auto found = std::ranges::lower_bound(transitions_, path, {}, &FileTransition::path);
    return found != transitions_.end() && found->path == path && !found->to;
}

// A file is written where a folder is.
std::string Restore::why_folder_stays(const std::string& path) const {
    std::vector<std::string> waiting = {path + "/"};
    bool has_removed = false;
    while (!waiting.empty()) {
        const std::string folder = std::move(waiting.back());
        waiting.pop_back();
        for (const std::string& name : workspace_.names(folder)) {
            if (name.ends_with('/')) {
                waiting.push_back(folder + name);
            } else if (removes(folder + name)) {
                has_removed = true;
            } else {
                return "it is a folder now, with " + folder + name;
            }
        }
    }
    return has_removed ? "" : what_it_is(Kind::folder);
}

// Whether the folders of the path are ones, or can be made.
std::string Restore::why_no_room(const std::string& path) const {
    for (std::string folder = next_folder(path, ""); !folder.empty(); folder = next_folder(path, folder)) {
        const std::string name = folder.substr(0, folder.size() - 1);
        const Kind kind = workspace_.read(name, 0).kind;
        if (kind != Kind::folder && kind != Kind::absent && !removes(name)) {
            return name + " is no folder now";
        }
        if (kind != Kind::folder) {
            break;
        }
    }
    return workspace_.why_not_writable(path);
}

std::vector<NotCovered> Restore::check() {
    std::vector<NotCovered> refused;
    for (const FileTransition& transition : transitions_) {
        const std::string& path = transition.path;
        std::string why = mismatch(path, transition.from);
        if (why.empty()) {
            why = why_no_room(path);
        }
        if (why.empty() && transition.to && workspace_.read(path, 0).kind == Kind::folder) {
            why = why_folder_stays(path);
        }
        if (!why.empty()) {
            refused.push_back({path, std::move(why)});
        }
    }
    return refused;
}

bool Restore::is_due(const FileTransition& transition, std::vector<NotCovered>& conflicts) {
    if (is_restored(transition)) {
        return false;
    }
    std::string why = mismatch(transition.path, transition.from);
    if (why.empty()) {
        return true;
    }
    conflicts.push_back({transition.path, std::move(why)});
    return false;
}

std::vector<NotCovered> Restore::run(bool stop) {
    std::vector<NotCovered> conflicts;
    for (const bool removing : {true, false}) {
        for (const FileTransition& transition : transitions_) {
            if (transition.to.has_value() == removing) {
                continue;
            }
            if (is_due(transition, conflicts)) {
                removing ? remove(transition) : write(transition);
            }
            if (stop && !conflicts.empty()) {
                return conflicts;
            }
        }
    }
    return conflicts;
}

bool Restore::target_has_folder(const std::string& folder) {
    const std::optional<TreeNode> node = reader_.find(target_files_, folder);
    if (node && node->is_folder()) {
        return true;
    }
    const auto found = std::ranges::lower_bound(target_paths_, folder);
    return found != target_paths_.end() && found->starts_with(folder);
}

void Restore::remove(const FileTransition& transition) {
    if (const int error = workspace_.remove_file(transition.path); error != 0 && error != ENOENT) {
        fail_step("remove", transition.path, error);
    }
    std::string folder = transition.path;
    while (folder.rfind('/') != std::string::npos) {
        folder.resize(folder.rfind('/'));
        if (target_has_folder(folder + "/") || workspace_.remove_folder(folder) != 0) {
            return;
        }
    }
}

void Restore::remove_empty_below(const std::string& folder) {
    for (const std::string& name : workspace_.names(folder)) {
        if (name.ends_with('/')) {
            remove_empty_below(folder + name);
        }
    }
    const std::string path = folder.substr(0, folder.size() - 1);
    if (const int error = workspace_.remove_folder(path); error != 0) {
        fail_step("remove the folder", path, error);
    }
}

void Restore::write(const FileTransition& transition) {
    const std::string& path = transition.path;
    if (workspace_.read(path, 0).kind == Kind::folder) {
        remove_empty_below(path + "/");
    }
    int error = workspace_.make_folders_of(path);
    if (error == 0) {
        error = workspace_.replace(path, temporary_, transition.to->mode, reader_.blob(transition.to->blob));
    }
    if (error != 0) {
        fail_step("write", path, error);
    }
}

} // namespace cellgate::changes
