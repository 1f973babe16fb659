#include "mounts/mount_plan.hpp"

#include "base/paths.hpp"

namespace cellgate::sandbox {

namespace fs = std::filesystem;

void MountPlan::put(Mount mount) {
    mount.reason = reason_;
    const fs::path place = mount.place;
    mounts_[place] = std::move(mount);
}

void MountPlan::hide_file(const std::string& place) {
    put({.place = place, .kind = Mount::Kind::hidden_file, .source = "/dev/null"});
}

void MountPlan::hide_directory(const std::string& place) {
    put({.place = place, .kind = Mount::Kind::hidden_directory});
}

void MountPlan::file(std::string content, const std::string& place) {
    put({.place = place, .kind = Mount::Kind::file, .content = std::move(content)});
}

void MountPlan::open_passage(const std::string& place) {
    const auto mount = mounts_.find(place);
    if (mount != mounts_.end() && mount->second.kind == Mount::Kind::hidden_directory) {
        mount->second.kind = Mount::Kind::passage;
    }
}

void MountPlan::forbid_writing(const std::string& place) {
    const Mount* above = at(place);
    if (above != nullptr && above->writable && above->place != place) {
        read_only(place);
    }
    for (auto& [each, mount] : mounts_) {
        if (mount.writable && is_within(each.native(), place)) {
            mount.writable = false;
            mount.reason = reason_;
        }
    }
}

void MountPlan::pin_folders(const std::string& top) {
    std::set<std::string> folders;
    for (const fs::path& place : places_below(top)) {
        for (fs::path folder = place.parent_path(); folder != top; folder = folder.parent_path()) {
            folders.insert(folder.string());
        }
    }
    for (const std::string& folder : folders) {
        const Mount* mount = at(folder);
        // What is read-only is not renamed.
        if (mount != nullptr && mount->writable && mount->place != folder) {
            set_reason(mount->reason);
            read_write(folder);
        }
    }
}

const Mount* MountPlan::at(const std::string& path) const {
    for (fs::path each = path;; each = each.parent_path()) {
        const auto mount = mounts_.find(each);
        if (mount != mounts_.end()) {
            return &mount->second;
        }
        if (each == each.parent_path()) {
            return nullptr;
        }
    }
}

bool MountPlan::shows(const std::string& path) const {
    // The nearest mount above decides: the sandbox's empty home covers the machine's.
    const Mount* mount = at(path);
    return mount != nullptr && mount->shows_machine();
}

std::vector<fs::path> MountPlan::places_below(const std::string& top) const {
    std::vector<fs::path> places;
    for (const auto& [place, mount] : mounts_) {
        if (place != top && is_within(place.native(), top)) {
            places.push_back(place);
        }
    }
    return places;
}

std::vector<MountPlan::Bind> MountPlan::binds_within(const std::string& top) const {
    std::vector<Bind> binds;
    for (const auto& [place, mount] : mounts_) {
        const bool bound = mount.kind == Mount::Kind::bind || mount.kind == Mount::Kind::device ||
                           mount.kind == Mount::Kind::hidden_file;
        if (bound && is_within(mount.place, top) && (mount.place == top || can_be_reached(place))) {
            binds.push_back({mount.source, mount.place});
        }
    }
    return binds;
}

std::vector<std::string> MountPlan::writable_places() const {
    std::vector<std::string> places;
    for (const auto& [place, mount] : mounts_) {
        if ((mount.writable || mount.kind == Mount::Kind::scratch) && can_be_reached(place)) {
            places.push_back(mount.place);
        }
    }
    return places;
}

bool MountPlan::can_be_reached(const fs::path& place) const {
    const Mount* above = at(place.parent_path().string());
    return above == nullptr || above->kind != Mount::Kind::hidden_directory;
}

void add_links(MountPlan& plan, const std::map<std::string, std::string>& links) {
    for (const auto& [place, target] : links) {
        if (!plan.shows(place)) {
            plan.put({.place = place, .kind = Mount::Kind::symlink, .source = target});
        }
    }
}

} // namespace cellgate::sandbox
