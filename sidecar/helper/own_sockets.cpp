#include "own_sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <utility>

namespace cellgate::helper {

namespace {

constexpr std::size_t max_held = 512; // of the 1024 descriptors that a process usually has

bool is_gone(const OpenNode& held) {
    struct stat status{};
    return ::fstat(held.descriptor.get(), &status) != 0 || status.st_nlink == 0;
}

// When it was made; moving it does not change that. Nothing where the file system does not say.
std::optional<timespec> born(const OpenNode& held) {
    struct statx status{};
    const bool told = ::statx(held.descriptor.get(), "", AT_EMPTY_PATH, STATX_BTIME, &status) == 0 &&
                      (status.stx_mask & STATX_BTIME) != 0;
    return told ? std::optional(timespec{static_cast<time_t>(status.stx_btime.tv_sec), status.stx_btime.tv_nsec})
                : std::nullopt;
}

bool is_before(const timespec& a, const timespec& b) {
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

} // namespace

bool OwnSockets::can_tell_age_in(const OpenNode& folder) {
    return born(folder).has_value();
}

void OwnSockets::make_room() {
    if (held_.size() >= max_held) {
        std::erase_if(held_, is_gone);
    }
    if (held_.size() >= max_held) {
        throw CallError{ENOBUFS};
    }
}

void OwnSockets::add(const Place& place, const timespec& since) {
    OpenNode held;
    held.descriptor =
        UniqueFd(::openat(place.folder.descriptor.get(), place.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (held.descriptor.get() >= 0 && ::fstat(held.descriptor.get(), &held.status) == 0 &&
        S_ISSOCK(held.status.st_mode)) {
        const std::optional<timespec> age = born(held);
        if (!age || !is_before(*age, since)) {
            held_.push_back(std::move(held));
        }
    }
}

bool OwnSockets::has(const OpenNode& socket) const {
    return std::any_of(held_.begin(), held_.end(), [&socket](const OpenNode& each) {
        return each.status.st_dev == socket.status.st_dev && each.status.st_ino == socket.status.st_ino;
    });
}

} // namespace cellgate::helper
