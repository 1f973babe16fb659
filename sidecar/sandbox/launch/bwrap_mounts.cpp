#include "launch/bwrap_mounts.hpp"

#include "base/files.hpp"

#include <fmt/format.h>

namespace cellgate::sandbox {

namespace {

constexpr std::uint64_t hidden_bytes = 4096; // a tmpfs of one page: it stays empty

std::vector<std::string> tmpfs(mode_t mode, std::uint64_t bytes) {
    return {"--perms", fmt::format("{:04o}", mode), "--size", std::to_string(bytes), "--tmpfs"};
}

// Nothing can be made in what is bound.
bool is_in_bind(const MountPlan& plan, const std::filesystem::path& place) {
    const Mount* above = plan.at(place.parent_path().string());
    return above != nullptr && above->kind == Mount::Kind::bind;
}

// The place follows, and before it the descriptor of a file.
std::vector<std::string> option_of(const Mount& mount, bool in_bind) {
    switch (mount.kind) {
    case Mount::Kind::bind:
    case Mount::Kind::hidden_file: // bwrap mounts without devices: opening it is "Permission denied", for root too
        return {mount.writable ? "--bind" : "--ro-bind", mount.source};
    case Mount::Kind::device:
        return {"--dev-bind", mount.source};
    case Mount::Kind::copy:
    case Mount::Kind::file:
        return {"--perms", mount.mode == 0 ? "0444" : fmt::format("{:04o}", mount.mode),
                in_bind ? "--ro-bind-data" : "--file"};
    case Mount::Kind::scratch:
        return tmpfs(mount.mode, mount.bytes);
    case Mount::Kind::symlink:
        return {"--symlink", mount.source};
    case Mount::Kind::hidden_directory:
        return tmpfs(0000, hidden_bytes);
    case Mount::Kind::passage:
        return tmpfs(0111, hidden_bytes);
    case Mount::Kind::proc:
        return {"--proc"};
    case Mount::Kind::devices:
        break;
    }
    return {"--dev"};
}

// Made read-only once all is mounted. /dev is a tmpfs without a size.
bool is_sealed(const Mount& mount) {
    return (mount.kind == Mount::Kind::proc && !mount.writable) || mount.kind == Mount::Kind::devices ||
           mount.kind == Mount::Kind::hidden_directory || mount.kind == Mount::Kind::passage;
}

} // namespace

BwrapMounts bwrap_mounts(const MountPlan& plan, int first_descriptor) {
    BwrapMounts made;
    std::vector<std::string> seals;
    for (const auto& [place, mount] : plan.mounts()) {
        std::vector<std::string> option = option_of(mount, is_in_bind(plan, place));
        made.arguments.insert(made.arguments.end(), std::make_move_iterator(option.begin()),
                              std::make_move_iterator(option.end()));
        if (mount.kind == Mount::Kind::file || mount.kind == Mount::Kind::copy) {
            made.arguments.push_back(std::to_string(first_descriptor + static_cast<int>(made.files.size())));
            made.files.push_back(mount.kind == Mount::Kind::file ? anonymous_file(mount.content)
                                                                 : open_to_read(mount.source));
        }
        made.arguments.push_back(mount.place);
        if (is_sealed(mount)) {
            seals.insert(seals.end(), {"--remount-ro", mount.place});
        }
    }
    made.arguments.insert(made.arguments.end(), seals.begin(), seals.end());
    // The root is a tmpfs without a size too: what is not a mount of its own cannot be written.
    made.arguments.insert(made.arguments.end(), {"--remount-ro", "/"});
    return made;
}

} // namespace cellgate::sandbox
