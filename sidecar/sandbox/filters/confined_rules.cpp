#include "filters/confined_rules.hpp"

#include "filters/filter.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace cellgate::sandbox {

namespace {

// As call_fchmodat2.
constexpr int call_setxattrat = 463;
constexpr int call_removexattrat = 466;
constexpr int call_file_setattr = 469;

// linux/ioprio.h is C only in Linux 6.1.192: it has a parameter named `class`.
constexpr int ioprio_who_process = 1;

// Files: opened, made, moved, removed, altered by the guard alone.
const int judged[] = {
    SCMP_SYS(creat),
    SCMP_SYS(truncate),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(mknod),
    SCMP_SYS(mknodat),
    SCMP_SYS(symlink),
    SCMP_SYS(symlinkat),
    SCMP_SYS(link),
    SCMP_SYS(linkat),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(rmdir),
    SCMP_SYS(chmod),
    SCMP_SYS(fchmod),
    SCMP_SYS(fchmodat),
    call_fchmodat2,
    SCMP_SYS(chown),
    SCMP_SYS(lchown),
    SCMP_SYS(fchown),
    SCMP_SYS(fchownat),
    SCMP_SYS(utime),
    SCMP_SYS(utimes),
    SCMP_SYS(futimesat),
    SCMP_SYS(utimensat),
    SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr),
    SCMP_SYS(fsetxattr),
    SCMP_SYS(removexattr),
    SCMP_SYS(lremovexattr),
    SCMP_SYS(fremovexattr),
    // sockets
    SCMP_SYS(connect),
    SCMP_SYS(bind),
};

void ask_about_files(Filter& filter) {
    // What O_PATH opens can be neither read nor written, and is judged when it is opened again.
    filter.ask(SCMP_SYS(open), has_of(1, O_PATH, 0));
    filter.ask(SCMP_SYS(openat), has_of(2, O_PATH, 0));
    for (const int call : judged) {
        filter.ask(call);
    }
    // Their flags cannot be seen from here, or they are too new for anybody to need them.
    for (const int call : {SCMP_SYS(openat2), call_setxattrat, call_removexattrat, call_file_setattr}) {
        filter.refuse(ENOSYS, call);
    }
}

// File systems' own ways to name and alter files, also by a descriptor that only reads: those of ext4 and all others,
// of XFS and all others, of versions, of btrfs, of f2fs, of bcachefs, of FAT, of ZFS.
void refuse_controls_of_files(Filter& filter) {
    constexpr std::uint64_t letter = 0xff00;
    for (const std::uint64_t kind : {0x66, 0x58, 0x76, 0x94, 0xf5, 0xbc, 0x72, 0x83}) {
        filter.refuse(ENOTTY, SCMP_SYS(ioctl), has_of(1, letter, kind << 8U));
    }
    filter.refuse(ENOTTY, SCMP_SYS(ioctl), is(1, _IOC(_IOC_WRITE, 'o', 4, 24))); // ocfs2's
}

// Unix sockets, without datagrams: to whom these go would have to be judged each time.
void refuse_sockets(Filter& filter) {
    // By this error ZeroMQ does without the names of interfaces (netlink); by others it aborts.
    filter.refuse(EOPNOTSUPP, SCMP_SYS(socket), is_not(0, AF_UNIX));
    filter.refuse(EOPNOTSUPP, SCMP_SYS(socketpair), is_not(0, AF_UNIX));
    // With these, a socket that connects takes an abstract name of its own accord.
    constexpr std::uint64_t pass_pidfd = 76; // SO_PASSPIDFD, newer than the library's headers
    for (const std::uint64_t option : {std::uint64_t{SO_PASSCRED}, pass_pidfd}) {
        filter.refuse(EPERM, SCMP_SYS(setsockopt), is(1, SOL_SOCKET), is(2, option));
    }
    // What a socket tells of the machine's network.
    filter.refuse(ENOTTY, SCMP_SYS(ioctl), has_of(1, 0xff00, 0x8900));
    constexpr std::uint64_t type = 0xf;
    for (const std::uint64_t kind : {SOCK_DGRAM, SOCK_RAW}) {
        filter.refuse(ESOCKTNOSUPPORT, SCMP_SYS(socket), is(0, AF_UNIX), has_of(1, type, kind));
        filter.refuse(ESOCKTNOSUPPORT, SCMP_SYS(socketpair), has_of(1, type, kind));
    }
}

// Shared memory, semaphores and queues that are everybody's.
void refuse_shared_names(Filter& filter) {
    for (const int call : {SCMP_SYS(shmget), SCMP_SYS(shmat), SCMP_SYS(shmctl), SCMP_SYS(semget), SCMP_SYS(semop),
                           SCMP_SYS(semtimedop), SCMP_SYS(semctl), SCMP_SYS(msgget), SCMP_SYS(msgsnd), SCMP_SYS(msgrcv),
                           SCMP_SYS(msgctl), SCMP_SYS(mq_open), SCMP_SYS(mq_unlink)}) {
        filter.refuse(ENOSYS, call);
    }
}

// What acts on other processes of the user by their numbers. 0 is the caller itself.
void refuse_others(Filter& filter) {
    for (const int call : {SCMP_SYS(prlimit64), SCMP_SYS(sched_setattr), SCMP_SYS(sched_setaffinity)}) {
        filter.refuse(EPERM, call, is_not(0, 0));
    }
    // ZeroMQ aborts when it cannot set the scheduling of its threads, by their numbers, to what it already is.
    for (const int call : {SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setparam)}) {
        filter.refuse(0, call, is_not(0, 0));
    }
    filter.refuse(EPERM, SCMP_SYS(setpriority), is_not(0, PRIO_PROCESS));
    filter.refuse(EPERM, SCMP_SYS(setpriority), is_not(1, 0));
    filter.refuse(EPERM, SCMP_SYS(ioprio_set), is_not(0, ioprio_who_process));
    filter.refuse(EPERM, SCMP_SYS(ioprio_set), is_not(1, 0));
    for (const int call :
         {SCMP_SYS(migrate_pages), SCMP_SYS(move_pages), SCMP_SYS(process_madvise), SCMP_SYS(process_mrelease)}) {
        filter.refuse(EPERM, call);
    }
}

} // namespace

std::string compile_confined_filter() {
    // Otherwise the library allows what the machine supports that this is built on.
    ::seccomp_api_set(api_with_notifications);
    Filter filter;
    ask_about_files(filter);
    refuse_controls_of_files(filter);
    refuse_sockets(filter);
    refuse_shared_names(filter);
    refuse_others(filter);
    // As in guard_rules.cpp: the guard has to be able to look into all, and none may have fewer rights than it has.
    filter.refuse(0, SCMP_SYS(prctl), is(0, PR_SET_DUMPABLE));
    filter.refuse(ENOSYS, SCMP_SYS(landlock_create_ruleset));
    return filter.compiled();
}

} // namespace cellgate::sandbox
