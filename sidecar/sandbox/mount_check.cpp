#include "mount_check.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

constexpr const char* places_file = "/.cellgate/places";
// $1: what is expected. PATH is the session's, which may lead into the workspace.
constexpr const char* comparison = R"sh(
found="$(PATH=/usr/bin:/bin xargs -0 -r stat -c %d:%i -- < /.cellgate/places)"
if [ "$found" != "$1" ]
then
    echo "cellgate: files of the workspace were exchanged while the sandbox was set up; start the session again" >&2
    exit 125
fi
shift
exec "$@")sh";

// "<device>:<inode>" of a path without links.
std::string identity_of(const std::string& path) {
    struct open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS;
    const Descriptor file(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
    struct stat status{};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
        throw system_error(ErrorCode::sandbox_unavailable,
                           fmt::format("{} was changed while the sandbox was set up", path), errno);
    }
    return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

} // namespace

void check_mounts(MountPlan& plan, const std::string& workspace, std::vector<std::string>& argv) {
    std::string places;
    std::string identities;
    for (const MountPlan::Bind& bind : plan.binds_within(workspace)) {
        places += bind.place + '\0';
        identities += (identities.empty() ? "" : "\n") + identity_of(bind.source);
    }
    plan.file(std::move(places), places_file);
    argv.insert(argv.begin(), {"/bin/sh", "-c", comparison, "sh", std::move(identities)});
}

} // namespace cellgate::sandbox
