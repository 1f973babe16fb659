#include "mount_plan.hpp"

#include "paths.hpp"

#include <set>

namespace cellgate::sandbox {

namespace fs = std::filesystem;

void MountPlan::read_only(const std::string& source, const std::string& place) {
    entries_[place] = Entry{.arguments = {"--ro-bind", source}, .from_machine = true};
}

void MountPlan::read_write(const std::string& source, const std::string& place) {
    entries_[place] = Entry{.arguments = {"--bind", source}, .from_machine = true, .writable = true};
}

void MountPlan::scratch(const std::string& place, std::uint64_t bytes, const char* permissions) {
    entries_[place] = Entry{.arguments = {"--perms", permissions, "--size", std::to_string(bytes), "--tmpfs"}};
}

void MountPlan::symlink(const std::string& target, const std::string& place) {
    entries_[place] = Entry{.arguments = {"--symlink", target}};
}

void MountPlan::file(std::string content, const std::string& place) {
    entries_[place] = Entry{.arguments = {"--perms", "0444", "--file"},
                            .content = [content = std::move(content)] { return anonymous_file(content); }};
}

void MountPlan::program(int descriptor, const std::string& place) {
    entries_[place] =
        Entry{.arguments = {"--perms", "0555", "--file"}, .content = [descriptor] { return read_anew(descriptor); }};
}

void MountPlan::unreadable_file(const std::string& place) {
    // bwrap mounts without devices, so opening it fails with "Permission denied", for root too.
    entries_[place] = Entry{.arguments = {"--ro-bind", "/dev/null"}};
}

void MountPlan::unreadable_directory(const std::string& place) {
    entries_[place] = Entry{.arguments = {"--perms", "0000", "--size", "4096", "--tmpfs"}, .sealed = true};
}

void MountPlan::proc() {
    entries_["/proc"] = Entry{.arguments = {"--proc"}, .sealed = true};
}

void MountPlan::devices() {
    // Sealed, as it is a tmpfs without a size.
    entries_["/dev"] = Entry{.arguments = {"--dev"}, .sealed = true};
}

void MountPlan::pin_folders(const std::string& top) {
    std::set<std::string> folders;
    for (const fs::path& place : places_below(top)) {
        for (fs::path folder = place.parent_path(); folder != top; folder = folder.parent_path()) {
            folders.insert(folder.string());
        }
    }
    for (const std::string& folder : folders) {
        const Entry* entry = nearest(folder);
        // What is read-only is not renamed.
        if (!entries_.contains(folder) && entry != nullptr && entry->writable) {
            read_write(folder);
        }
    }
}

bool MountPlan::shows(const std::string& path) const {
    // The nearest mount above decides: home is empty although the machine's lies below it.
    const Entry* entry = nearest(path);
    return entry != nullptr && entry->from_machine;
}

std::vector<MountPlan::Bind> MountPlan::binds_within(const std::string& top) const {
    std::vector<Bind> binds;
    for (const auto& [place, entry] : entries_) {
        const bool bound = entry.arguments.size() == 2 && entry.arguments[0].ends_with("bind");
        if (bound && is_within(place.native(), top) && (place == top || shows(place.parent_path().string()))) {
            binds.push_back({entry.arguments[1], place.native()});
        }
    }
    return binds;
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

const MountPlan::Entry* MountPlan::nearest(const std::string& path) const {
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
        if (is_within(path, entry->first.native())) {
            return &entry->second;
        }
    }
    return nullptr;
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

} // namespace cellgate::sandbox
