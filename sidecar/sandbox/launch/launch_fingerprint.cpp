#include "async/helper_program.hpp"
#include "base/error.hpp"
#include "base/fingerprint.hpp"
#include "mounts/kernel_mounts.hpp"
#include "sandbox/launch.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

struct stat status_of(int fd) {
    struct stat status{};
    ::fstat(fd, &status);
    return status;
}

// From the beginning, without moving the offset that the launched program reads from.
std::string content_of(int fd) {
    std::string content(static_cast<std::size_t>(status_of(fd).st_size), '\0');
    const ssize_t got = ::pread(fd, content.data(), content.size(), 0);
    if (got < 0) {
        throw system_error(ErrorCode::internal_error, "a file of a launch cannot be read", errno);
    }
    content.resize(static_cast<std::size_t>(got));
    return content;
}

// The machine's file or folder at a place. A mount on a file does not outlast the file: where an editor replaced it, an
// older sandbox shows the new one.
std::string identity_at(const std::string& place) {
    struct stat status{};
    return ::lstat(place.c_str(), &status) == 0 ? fmt::format("{}:{}", status.st_dev, status.st_ino) : "none";
}

} // namespace

std::string fingerprint_of(const Launch& launch) {
    const struct stat helper = status_of(async::helper_program());
    Fingerprint text;
    text.add_all(launch.command.argv);
    text.add(launch.command.cwd);
    for (const auto& [name, value] : launch.command.environment) {
        text.add(name);
        text.add(value);
    }
    text.add_all(launch.layers);
    text.add_all(launch.notices);
    for (const UniqueFd& file : launch.descriptors) {
        const struct stat status = status_of(file.get());
        const bool is_helper = status.st_dev == helper.st_dev && status.st_ino == helper.st_ino; // always the same one
        text.add(is_helper ? std::string("helper") : content_of(file.get()));
    }
    if (launch.mounts) {
        for (const auto& [place, mount] : launch.mounts->plan.mounts()) {
            text.add(identity_at(mount.kind == Mount::Kind::bind ? mount.source : place.string()));
        }
    }
    return text.hash();
}

} // namespace cellgate::sandbox
