#include "filters/system_call_rules.hpp"

#include "filters/filter.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <vector>

namespace cellgate::sandbox {

namespace {

struct Refusal {
    int call;
    int error;
};

constexpr int call_open_tree_attr = 467;

// What reaches beyond the namespaces. ENOSYS where programs know what to do without. A call that this architecture does
// not have is left out by the library.
const Refusal refusals[] = {
    {SCMP_SYS(keyctl), EPERM},
    {SCMP_SYS(add_key), EPERM},
    {SCMP_SYS(request_key), EPERM},
    {SCMP_SYS(open_by_handle_at), EPERM},
    {SCMP_SYS(bpf), EPERM},
    {SCMP_SYS(perf_event_open), EPERM},
    {SCMP_SYS(fanotify_init), EPERM},
    {SCMP_SYS(kcmp), EPERM},
    {SCMP_SYS(lookup_dcookie), EPERM},
    {SCMP_SYS(userfaultfd), ENOSYS},
    {SCMP_SYS(io_uring_setup), ENOSYS},
    {SCMP_SYS(io_uring_enter), ENOSYS},
    {SCMP_SYS(io_uring_register), ENOSYS},
};

// What a runtime does to set its sandbox up: change mounts and namespaces.
const Refusal refusals_of_setup[] = {
    {SCMP_SYS(mount), EPERM},         {SCMP_SYS(umount), EPERM},
    {SCMP_SYS(umount2), EPERM},       {SCMP_SYS(pivot_root), EPERM},
    {SCMP_SYS(chroot), EPERM},        {SCMP_SYS(open_tree), EPERM},
    {call_open_tree_attr, EPERM},     {SCMP_SYS(move_mount), EPERM},
    {SCMP_SYS(fsopen), EPERM},        {SCMP_SYS(fsconfig), EPERM},
    {SCMP_SYS(fsmount), EPERM},       {SCMP_SYS(fspick), EPERM},
    {SCMP_SYS(mount_setattr), EPERM}, {SCMP_SYS(setns), EPERM},
    {SCMP_SYS(clone3), ENOSYS}, // its flags cannot be seen from here; clone's are, and everybody falls back to it
};

// What changes the machine, and what programs of former times needed.
const Refusal refusals_of_changes[] = {
    {SCMP_SYS(init_module), EPERM},
    {SCMP_SYS(finit_module), EPERM},
    {SCMP_SYS(delete_module), EPERM},
    {SCMP_SYS(kexec_load), EPERM},
    {SCMP_SYS(kexec_file_load), EPERM},
    {SCMP_SYS(reboot), EPERM},
    {SCMP_SYS(swapon), EPERM},
    {SCMP_SYS(swapoff), EPERM},
    {SCMP_SYS(acct), EPERM},
    {SCMP_SYS(quotactl), EPERM},
    {SCMP_SYS(quotactl_fd), EPERM},
    {SCMP_SYS(syslog), EPERM},
    {SCMP_SYS(settimeofday), EPERM},
    {SCMP_SYS(stime), EPERM},
    {SCMP_SYS(clock_settime), EPERM},
    {SCMP_SYS(clock_adjtime), EPERM},
    {SCMP_SYS(adjtimex), EPERM},
    {SCMP_SYS(vhangup), EPERM},
    {SCMP_SYS(ioperm), EPERM},
    {SCMP_SYS(iopl), EPERM},
    {SCMP_SYS(modify_ldt), ENOSYS},
    {SCMP_SYS(uselib), ENOSYS},
    {SCMP_SYS(_sysctl), ENOSYS},
    {SCMP_SYS(nfsservctl), ENOSYS},
    {SCMP_SYS(vm86), ENOSYS},
    {SCMP_SYS(vm86old), ENOSYS},
};

// Who opens a file that somebody has a lease on waits for 45 seconds: an editor, say.
void refuse_leases(Filter& filter) {
    filter.refuse(EPERM, SCMP_SYS(fcntl), is(1, F_SETLEASE));
}

// Input put into a terminal as if it was typed, and the console's keys.
void refuse_typing(Filter& filter) {
    filter.refuse(EPERM, SCMP_SYS(ioctl), is(1, TIOCSTI));
    filter.refuse(EPERM, SCMP_SYS(ioctl), is(1, TIOCLINUX));
}

void refuse_namespaces(Filter& filter) {
    constexpr int new_time_namespace = 0x80; // for clone it would be a part of the signal
    filter.refuse(EPERM, SCMP_SYS(unshare), has_bits(0, new_time_namespace));
    for (const int flag :
         {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
        const auto bit = static_cast<std::uint64_t>(flag);
        filter.refuse(EPERM, SCMP_SYS(unshare), has_bits(0, bit));
        filter.refuse(EPERM, SCMP_SYS(clone), has_bits(0, bit));
    }
}

// A file of the workspace with such a bit would run with our rights for every user who starts it outside.
void refuse_set_id_bits(Filter& filter) {
    for (const std::uint64_t bit : {S_ISUID, S_ISGID}) {
        filter.refuse(EPERM, SCMP_SYS(chmod), has_bits(1, bit));
        filter.refuse(EPERM, SCMP_SYS(fchmod), has_bits(1, bit));
        filter.refuse(EPERM, SCMP_SYS(fchmodat), has_bits(2, bit));
        filter.refuse(EPERM, call_fchmodat2, has_bits(2, bit));
        filter.refuse(EPERM, SCMP_SYS(mknod), has_bits(1, bit));
        filter.refuse(EPERM, SCMP_SYS(mknodat), has_bits(2, bit));
        filter.refuse(EPERM, SCMP_SYS(creat), has_bits(1, bit));
        // Without these flags there is no mode, and the argument may be anything.
        for (const std::uint64_t making : {O_CREAT, O_TMPFILE & ~O_DIRECTORY}) {
            filter.refuse(EPERM, SCMP_SYS(open), has_bits(1, making), has_bits(2, bit));
            filter.refuse(EPERM, SCMP_SYS(openat), has_bits(2, making), has_bits(3, bit));
        }
    }
    filter.refuse(ENOSYS, SCMP_SYS(openat2)); // its mode cannot be seen from here
}

// It leaves a device in the place of what is moved, which takes no right.
void refuse_whiteouts(Filter& filter) {
    constexpr std::uint64_t whiteout = 1U << 2U;
    filter.refuse(EINVAL, SCMP_SYS(renameat2), has_bits(4, whiteout));
}

// The families that the network namespace makes harmless, or that are asked for. Netlink, of which only the question
// for the interfaces is asked: ZeroMQ and the C library want it.
void refuse_sockets(Filter& filter, bool with_unix_sockets) {
    std::vector<int> families = {AF_INET, AF_INET6, AF_NETLINK};
    if (with_unix_sockets) {
        families.push_back(AF_UNIX);
    }
    const int last = *std::max_element(families.begin(), families.end());
    for (int family = 0; family <= last; ++family) {
        if (std::find(families.begin(), families.end(), family) == families.end()) {
            filter.refuse(EAFNOSUPPORT, SCMP_SYS(socket), is(0, static_cast<std::uint64_t>(family)));
        }
    }
    filter.refuse(EAFNOSUPPORT, SCMP_SYS(socket), is_beyond(0, static_cast<std::uint64_t>(last)));
    // 0 is NETLINK_ROUTE.
    filter.refuse(EAFNOSUPPORT, SCMP_SYS(socket), is(0, AF_NETLINK), is_not(2, 0));
}

void refuse_for_all(Filter& filter) {
    for (const Refusal& refusal : refusals) {
        filter.refuse(refusal.error, refusal.call);
    }
    for (const Refusal& refusal : refusals_of_changes) {
        filter.refuse(refusal.error, refusal.call);
    }
    refuse_leases(filter);
    refuse_typing(filter);
    refuse_set_id_bits(filter);
    refuse_whiteouts(filter);
}

} // namespace

std::string compile_runtime_filter() {
    Filter filter;
    refuse_for_all(filter);
    return filter.compiled();
}

std::string compile_system_call_filter(bool with_unix_sockets) {
    Filter filter;
    refuse_for_all(filter);
    for (const Refusal& refusal : refusals_of_setup) {
        filter.refuse(refusal.error, refusal.call);
    }
    refuse_namespaces(filter);
    refuse_sockets(filter, with_unix_sockets);
    // To ask for one's personality is to set this one.
    constexpr std::uint64_t just_asking = 0xffff'ffff;
    filter.refuse(EPERM, SCMP_SYS(personality), is_not(0, just_asking));
    return filter.compiled();
}

} // namespace cellgate::sandbox
