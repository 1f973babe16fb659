#include "filters/guard_rules.hpp"

#include "filters/filter.hpp"

#include <cerrno>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

namespace cellgate::sandbox {

namespace {

// Of opening, only what makes the file if there is none: O_PATH makes nothing, and what O_TMPFILE makes has no name
// until it is linked.
constexpr std::uint64_t kinds_of_open = O_CREAT | O_PATH | (O_TMPFILE & ~O_DIRECTORY);

// Of file systems that name files in their own ways. The numbers of bcachefs and ocfs2 are in no header of the
// system's.
constexpr std::uint64_t naming_controls[] = {BTRFS_IOC_SUBVOL_CREATE,        BTRFS_IOC_SUBVOL_CREATE_V2,
                                             BTRFS_IOC_SNAP_CREATE,          BTRFS_IOC_SNAP_CREATE_V2,
                                             _IOC(_IOC_WRITE, 0xbc, 16, 32), _IOC(_IOC_WRITE, 'o', 4, 24)};

} // namespace

std::string compile_guard_filter() {
    // Otherwise the library allows what the machine supports that this is built on.
    ::seccomp_api_set(api_with_notifications);
    Filter filter;
    filter.ask(SCMP_SYS(open), has_of(1, kinds_of_open, O_CREAT));
    filter.ask(SCMP_SYS(openat), has_of(2, kinds_of_open, O_CREAT));
    for (const int call : {SCMP_SYS(creat), SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(mknod), SCMP_SYS(mknodat),
                           SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(link), SCMP_SYS(linkat), SCMP_SYS(rename),
                           SCMP_SYS(renameat), SCMP_SYS(renameat2),
                           // the addresses of sockets
                           SCMP_SYS(bind), SCMP_SYS(connect)}) {
        filter.ask(call);
    }
    for (const std::uint64_t control : naming_controls) {
        filter.refuse(ENOTTY, SCMP_SYS(ioctl), is(1, control));
    }
    filter.refuse(ENOSYS, SCMP_SYS(openat2)); // its flags cannot be seen from here
    // The guard makes calls in others' place. So it has to be able to look into all of them, and none may have fewer
    // rights than it has.
    filter.refuse(0, SCMP_SYS(prctl), is(0, PR_SET_DUMPABLE));
    filter.refuse(ENOSYS, SCMP_SYS(landlock_create_ruleset));
    return filter.compiled();
}

} // namespace cellgate::sandbox
