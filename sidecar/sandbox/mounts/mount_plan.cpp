#include "mounts/mount_plan.hpp"

#include "mounts/paths.hpp"

#include <set>

namespace cellgate::sandbox {

namespace fs = std::filesystem;

void MountPlan::put(const std::string& place, Entry entry) {
    entry.reason = reason_;
    entries_[place] = std::move(entry);
}

void MountPlan::read_only(const std::string& source, const std::string& place) {
    put(place, Entry{.arguments = {"--ro-bind", source}, .kind = Kind::machine});
}

void MountPlan::read_write(const std::string& source, const std::string& place) {
    put(place, Entry{.arguments = {"--bind", source}, .kind = Kind::machine, .writable = true});
}

void MountPlan::scratch(const std::string& place, std::uint64_t bytes, const char* permissions) {
    put(place, Entry{.arguments = {"--perms", permissions, "--size", std::to_string(bytes), "--tmpfs"},
                     .kind = Kind::scratch});
}

void MountPlan::symlink(const std::string& target, const std::string& place) {
    put(place, Entry{.arguments = {"--symlink", target}, .kind = Kind::link});
}

void MountPlan::file(std::string content, const std::string& place) {
    put(place, Entry{.arguments = {"--perms", "0444", "--file"},
                     .content = [content = std::move(content)] { return anonymous_file(content); }});
}

void MountPlan::copy(const std::string& path) {
    put(path, Entry{.arguments = {"--perms", "0444", "--file"}, .kind = Kind::machine, .content = [path] {
                        return read_file(path);
                    }});
}

void MountPlan::unreadable_file(const std::string& place) {
    // bwrap mounts without devices, so opening it fails with "Permission denied", for root too.
    put(place, Entry{.arguments = {"--ro-bind", "/dev/null"}, .kind = Kind::unreadable});
}

void MountPlan::unreadable_directory(const std::string& place) {
    put(place, Entry{.arguments = {"--perms", "0000", "--size", "4096", "--tmpfs"},
                     .kind = Kind::unreadable,
                     .sealed = true,
                     .closed = true});
}

void MountPlan::open_passage(const std::string& place) {
    const auto entry = entries_.find(place);
    if (entry != entries_.end() && entry->second.closed) {
        entry->second.arguments = {"--perms", "0111", "--size", "4096", "--tmpfs"};
        entry->second.closed = false;
    }
}

void MountPlan::forbid_writing(const std::string& place) {
    const auto above = nearest(place);
    if (above != entries_.end() && above->second.writable && above->first != place) {
        read_only(place);
    }
    for (auto& [each, entry] : entries_) {
        if (entry.writable && is_within(each.native(), place)) {
            entry.arguments[0] = "--ro-bind";
            entry.writable = false;
            entry.reason = reason_;
        }
    }
}

void MountPlan::proc() {
    put("/proc", Entry{.arguments = {"--proc"}, .sealed = true});
}

void MountPlan::devices() {
    // Sealed, as it is a tmpfs without a size.
    put("/dev", Entry{.arguments = {"--dev"}, .sealed = true});
}

void MountPlan::device(const std::string& path) {
    put(path, Entry{.arguments = {"--dev-bind", path}, .kind = Kind::machine});
}

void MountPlan::pin_folders(const std::string& top) {
    std::set<std::string> folders;
    for (const fs::path& place : places_below(top)) {
        for (fs::path folder = place.parent_path(); folder != top; folder = folder.parent_path()) {
            folders.insert(folder.string());
        }
    }
    for (const std::string& folder : folders) {
        const auto entry = nearest(folder);
        // What is read-only is not renamed.
        if (!entries_.contains(folder) && entry != entries_.end() && entry->second.writable) {
            set_reason(entry->second.reason);
            read_write(folder);
        }
    }
}

bool MountPlan::shows(const std::string& path) const {
    // The nearest mount above decides: the sandbox's empty home covers the machine's.
    const auto entry = nearest(path);
    return entry != entries_.end() && entry->second.kind == Kind::machine;
}

std::vector<MountPlan::Bind> MountPlan::binds_within(const std::string& top) const {
    std::vector<Bind> binds;
    for (const auto& [place, entry] : entries_) {
        const bool bound = entry.arguments.size() == 2 && entry.arguments[0].ends_with("bind");
        if (bound && is_within(place.native(), top) && (place == top || can_be_reached(place))) {
            binds.push_back({entry.arguments[1], place.native()});
        }
    }
    return binds;
}

std::vector<std::string> MountPlan::writable_places() const {
    std::vector<std::string> places;
    for (const auto& [place, entry] : entries_) {
        if ((entry.writable || entry.kind == Kind::scratch) && can_be_reached(place)) {
            places.push_back(place.native());
        }
    }
    return places;
}

std::vector<fs::path> MountPlan::places_below(const std::string& top) const {
    std::vector<fs::path> places;
    for (const auto& [place, entry] : entries_) {
        if (place != top && is_within(place.native(), top)) {
            places.push_back(place);
        }
    }
    return places;
}

std::optional<MountPlan::Mounted> MountPlan::at(const std::string& path) const {
    const auto entry = nearest(path);
    if (entry == entries_.end()) {
        return std::nullopt;
    }
    const std::vector<std::string>& arguments = entry->second.arguments;
    return Mounted{entry->first.native(), entry->second.kind, entry->second.writable,
                   arguments.size() == 2 ? arguments[1] : std::string(), entry->second.reason};
}

bool MountPlan::can_be_reached(const fs::path& place) const {
    const auto above = nearest(place.parent_path().string());
    return above == entries_.end() || !above->second.closed;
}

MountPlan::Entries::const_iterator MountPlan::nearest(const std::string& path) const {
    for (fs::path each = path;; each = each.parent_path()) {
        const auto entry = entries_.find(each);
        if (entry != entries_.end() || each == each.parent_path()) {
            return entry;
        }
    }
}

MountPlan::Arguments MountPlan::arguments(int first_descriptor) const {
    Arguments result;
    std::vector<std::string> seals;
    for (const auto& [place, entry] : entries_) {
        result.arguments.insert(result.arguments.end(), entry.arguments.begin(), entry.arguments.end());
        if (entry.content) {
            result.arguments.push_back(std::to_string(first_descriptor + static_cast<int>(result.files.size())));
            result.files.push_back(entry.content());
        }
        result.arguments.push_back(place.native());
        if (entry.sealed) {
            seals.insert(seals.end(), {"--remount-ro", place.native()});
        }
    }
    result.arguments.insert(result.arguments.end(), seals.begin(), seals.end());
    // The root is a tmpfs without a size too: what is not a mount of its own cannot be written.
    result.arguments.insert(result.arguments.end(), {"--remount-ro", "/"});
    return result;
}

void add_links(MountPlan& plan, const std::map<std::string, std::string>& links) {
    for (const auto& [place, target] : links) {
        if (!plan.shows(place)) {
            plan.symlink(target, place);
        }
    }
}

} // namespace cellgate::sandbox
