#include "mounts/image_mounts.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <linux/openat2.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

// Of the sandbox's own, or of a machine that runs.
constexpr std::array<std::string_view, 6> left_out = {"/proc", "/sys", "/dev", "/run", "/tmp", "/.cellgate"};

UniqueFd open_in(const Image& image, const std::string& path, std::uint64_t resolve) {
    const UniqueFd root(::open(image.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = resolve;
    return UniqueFd(static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)));
}

bool shows_folder(const Mount& mount) {
    switch (mount.kind) {
    case Mount::Kind::bind: {
        std::error_code error;
        return fs::is_directory(mount.source, error);
    }
    case Mount::Kind::scratch:
    case Mount::Kind::hidden_directory:
    case Mount::Kind::passage:
    case Mount::Kind::proc:
    case Mount::Kind::devices:
        return true;
    default:
        return false;
    }
}

// Whether the image has, at a mount's place, something that it can be mounted on.
bool has_place_for(const Image& image, const Mount& mount) {
    if (mount.kind == Mount::Kind::symlink) {
        return false; // it is made
    }
    const UniqueFd there = open_in(image, mount.place, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
    struct stat status{};
    return there.valid() && ::fstat(there.get(), &status) == 0 && S_ISDIR(status.st_mode) == shows_folder(mount);
}

// `folder` is a place in the sandbox. Nothing can be made in what is bound: where a place is missing in the image, its
// folders are the sandbox's own, and each entry is bound.
void show_entries(MountPlan& plan, const Image& image, const fs::path& folder) {
    for (const fs::directory_entry& entry : fs::directory_iterator(image.root + folder.native())) {
        const fs::path place = folder / entry.path().filename();
        if (plan.mounts().contains(place) ||
            std::find(left_out.begin(), left_out.end(), place.native()) != left_out.end()) {
            continue;
        }
        const std::vector<fs::path> below = plan.places_below(place);
        const bool is_link = entry.is_symlink();
        if (std::all_of(below.begin(), below.end(), [&](const fs::path& each) {
                return !is_link && has_place_for(image, plan.mounts().at(each));
            })) {
            if (is_link) {
                plan.put({.place = place, .kind = Mount::Kind::symlink, .source = fs::read_symlink(entry.path())});
            } else {
                plan.put({.place = place, .source = entry.path()});
            }
        } else if (!is_link && entry.is_directory()) {
            show_entries(plan, image, place);
        }
    }
}

} // namespace

std::optional<std::string> find_program(const Image& image, const std::string& name) {
    std::vector<std::string> candidates;
    if (name.starts_with('/')) {
        candidates.push_back(name);
    } else if (name.find('/') == std::string::npos) {
        candidates = search_path(image.environment);
        std::transform(candidates.begin(), candidates.end(), candidates.begin(),
                       [&name](const std::string& folder) { return folder + "/" + name; });
    }
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&image](const std::string& path) {
        const UniqueFd file = open_in(image, path, RESOLVE_IN_ROOT);
        struct stat status{};
        return file.valid() && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
               (status.st_mode & 0100) != 0;
    });
    return found == candidates.end() ? std::nullopt : std::optional(*found);
}

void add_image(MountPlan& plan, const Image& image) {
    plan.set_reason({"the image " + image.name});
    try {
        show_entries(plan, image, "/");
    } catch (const fs::filesystem_error& error) {
        throw Error(ErrorCode::config_invalid, std::string("the files of an image cannot be read: ") + error.what(),
                    "Remove them with `cellgate image remove`: they are unpacked again when they are needed.");
    }
}

} // namespace cellgate::sandbox
