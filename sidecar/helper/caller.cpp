#include "caller.hpp"

#include "process_facts.hpp"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

namespace cellgate::helper {

bool Caller::waits() const {
    return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &call_.id) == 0;
}

std::string Caller::text(std::uint64_t address) const {
    std::array<char, PATH_MAX> bytes; // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
    // In two parts, as what lies behind the page's end may not be there.
    constexpr std::uint64_t page = 4096;
    const std::size_t first = page - address % page;
    iovec here{bytes.data(), bytes.size()};
    const auto part = [](std::uint64_t begin, std::size_t size) {
        return iovec{reinterpret_cast<void*>(begin), size}; // NOLINT(performance-no-int-to-ptr): another's address
    };
    const std::array<iovec, 2> there = {part(address, std::min(first, bytes.size())),
                                        part(address + first, bytes.size() - first)};
    const ssize_t size = ::process_vm_readv(thread(), &here, 1, there.data(), there.size(), 0);
    if (size <= 0) {
        throw CallError{errno == EPERM ? EACCES : EFAULT};
    }
    const auto* end = static_cast<const char*>(std::memchr(bytes.data(), 0, static_cast<std::size_t>(size)));
    if (end == nullptr) {
        throw CallError{size == static_cast<ssize_t>(bytes.size()) ? ENAMETOOLONG : EFAULT};
    }
    return std::string(static_cast<const char*>(bytes.data()), end);
}

std::string Caller::bytes(std::uint64_t address, std::size_t size) const {
    std::string bytes(size, '\0');
    iovec here{bytes.data(), size};
    iovec there{reinterpret_cast<void*>(address), size}; // NOLINT(performance-no-int-to-ptr): another's address
    if (::process_vm_readv(thread(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(size)) {
        throw CallError{EFAULT};
    }
    return bytes;
}

UniqueFd Caller::shared(int descriptor) const {
    const UniqueFd process_of_caller(static_cast<int>(::syscall(SYS_pidfd_open, process(), 0)));
    UniqueFd found(static_cast<int>(::syscall(SYS_pidfd_getfd, process_of_caller.get(), descriptor, 0)));
    if (found.get() < 0) {
        throw CallError{errno == ESRCH ? ESRCH : errno == EPERM ? EPERM : EBADF};
    }
    return found;
}

UniqueFd Caller::opened(int descriptor) const {
    const std::string own = "/proc/" + std::to_string(thread());
    const std::string link = descriptor == AT_FDCWD ? own + "/cwd" : own + "/fd/" + std::to_string(descriptor);
    UniqueFd found(::open(link.c_str(), O_PATH | O_CLOEXEC));
    if (found.get() < 0) {
        throw CallError{errno == ENOENT ? (descriptor == AT_FDCWD ? ENOENT : EBADF) : errno};
    }
    return found;
}

UniqueFd Caller::root() const {
    UniqueFd found(::open(("/proc/" + std::to_string(thread()) + "/root").c_str(), O_PATH | O_CLOEXEC));
    if (found.get() < 0) {
        throw CallError{errno};
    }
    return found;
}

pid_t Caller::process() const {
    const auto number = status_number(thread(), "Tgid", 10);
    if (!number) {
        throw CallError{ESRCH};
    }
    return static_cast<pid_t>(*number);
}

mode_t Caller::umask() const {
    const auto bits = status_number(thread(), "Umask", 8);
    if (!bits) {
        throw CallError{ESRCH};
    }
    return static_cast<mode_t>(*bits);
}

void Caller::answer(int error) const {
    seccomp_notif_resp response{.id = call_.id, .val = 0, .error = -error, .flags = 0};
    ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &response); // fails when the caller has ended
}

void Caller::give(const UniqueFd& file, int flags) const {
    seccomp_notif_addfd copy{.id = call_.id,
                             .flags = SECCOMP_ADDFD_FLAG_SEND,
                             .srcfd = static_cast<__u32>(file.get()),
                             .newfd = 0,
                             .newfd_flags = static_cast<__u32>(flags & O_CLOEXEC)};
    // A signal to us in here would have the system take the descriptor back, and tell the caller of one all the same.
    sigset_t all{};
    sigset_t before{};
    ::sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, &before);
    const int error = ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &copy) < 0 ? errno : 0;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (error != 0) {
        answer(error); // EMFILE: the caller's limit, say
    }
}

} // namespace cellgate::helper
