#include "sandbox/limitations.hpp"

namespace cellgate::sandbox {

std::vector<std::string> landlock_limitations() {
    return {
        "no network at all, not even the sandbox's own: no TCP, no UDP, no way through cellgate's proxy",
        "of all files of the machine, code sees whether they exist, their sizes and dates, and the targets of links",
        "code sees the numbers of other processes, and of their open files (not what they run or hold)",
        "the machine's names are its own: host, users, groups, mounts, settings of the kernel",
        "no shared memory and no semaphores by name: multiprocessing has no locks",
        "no datagram sockets, and none with an abstract name",
        "a file that is hidden in the workspace can still be executed where its mode allows that, and so be read",
        "/tmp and /dev/shm are closed: scratch space is TMPDIR, in the runtime directory, without a size of its own",
        "one layer less: a flaw in the system's calls or in the guard is not held by a namespace behind it",
        "packages cannot be installed: that needs the other sandbox",
        "limits: processes are counted by a control group only, scratch space has none",
    };
}

} // namespace cellgate::sandbox
