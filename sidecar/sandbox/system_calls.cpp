#include "system_calls.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <vector>

namespace cellgate::sandbox {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t our_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t our_architecture = AUDIT_ARCH_AARCH64;
#else
#error "the numbers of this architecture's system calls are not known"
#endif

// Of x86: the same calls once more, under other numbers, for 32-bit pointers.
constexpr std::uint32_t second_numbers = 0x40000000;

struct Refusal {
    std::uint32_t call;
    std::uint32_t error;
};

// ENOSYS where programs know what to do without.
constexpr Refusal refusals[] = {
    // reach beyond the namespaces
    {SYS_keyctl, EPERM},
    {SYS_add_key, EPERM},
    {SYS_request_key, EPERM},
    {SYS_open_by_handle_at, EPERM},
    {SYS_bpf, EPERM},
    {SYS_perf_event_open, EPERM},
    {SYS_userfaultfd, ENOSYS},
    {SYS_io_uring_setup, ENOSYS},
    {SYS_io_uring_enter, ENOSYS},
    {SYS_io_uring_register, ENOSYS},
    // change mounts and namespaces
    {SYS_mount, EPERM},
    {SYS_umount2, EPERM},
    {SYS_pivot_root, EPERM},
    {SYS_open_tree, EPERM},
    {SYS_move_mount, EPERM},
    {SYS_fsopen, EPERM},
    {SYS_fsconfig, EPERM},
    {SYS_fsmount, EPERM},
    {SYS_fspick, EPERM},
    {SYS_mount_setattr, EPERM},
    {SYS_setns, EPERM},
    // change the machine
    {SYS_init_module, EPERM},
    {SYS_finit_module, EPERM},
    {SYS_delete_module, EPERM},
    {SYS_kexec_load, EPERM},
#ifdef SYS_kexec_file_load
    {SYS_kexec_file_load, EPERM},
#endif
    {SYS_reboot, EPERM},
    {SYS_swapon, EPERM},
    {SYS_swapoff, EPERM},
    {SYS_acct, EPERM},
    {SYS_syslog, EPERM},
    {SYS_settimeofday, EPERM},
    {SYS_clock_settime, EPERM},
};

class Program {
  public:
    // The low half of an argument is all that the kernel looks at where it takes an int. Both are little-endian.
    void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
    void load_argument(int number) {
        load(offsetof(seccomp_data, args) + static_cast<std::size_t>(number) * sizeof(std::uint64_t));
    }
    void allow() { add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }
    void refuse(std::uint32_t error) { add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error); }
    // The next `count` instructions are for this value only.
    void if_equal(std::uint32_t value, std::uint8_t count) { add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count); }
    void unless_equal(std::uint32_t value, std::uint8_t count) { add(BPF_JMP | BPF_JEQ | BPF_K, value, count, 0); }
    void if_at_least(std::uint32_t value, std::uint8_t count) { add(BPF_JMP | BPF_JGE | BPF_K, value, 0, count); }

    std::string_view bytes() const {
        return {reinterpret_cast<const char*>(code_.data()), code_.size() * sizeof(sock_filter)};
    }

  private:
    void add(std::uint16_t code, std::uint32_t value, std::uint8_t then = 0, std::uint8_t otherwise = 0) {
        code_.push_back(sock_filter{code, then, otherwise, value});
    }
    std::vector<sock_filter> code_;
};

} // namespace

Descriptor system_call_filter(Network network) {
    Program program;
    program.load(offsetof(seccomp_data, arch));
    program.unless_equal(our_architecture, 1);
    program.refuse(ENOSYS);
    program.load(offsetof(seccomp_data, nr));
    program.if_at_least(second_numbers, 1);
    program.refuse(ENOSYS);
    for (const Refusal& refusal : refusals) {
        program.if_equal(refusal.call, 1);
        program.refuse(refusal.error);
    }
    // Input put into a terminal as if it was typed, and the console's keys.
    program.if_equal(SYS_ioctl, 6);
    program.load_argument(1);
    program.if_equal(TIOCSTI, 1);
    program.refuse(EPERM);
    program.if_equal(TIOCLINUX, 1);
    program.refuse(EPERM);
    program.allow();
    // The families that the network namespace makes harmless, or that are asked for. Netlink, of which only the
    // question for the interfaces is asked: ZeroMQ and the C library want it.
    std::vector<int> families = {AF_INET, AF_INET6};
    if (network == Network::none) {
        families.push_back(AF_UNIX);
    }
    program.if_equal(SYS_socket, static_cast<std::uint8_t>(7 + 2 * families.size()));
    program.load_argument(0);
    for (const int family : families) {
        program.if_equal(static_cast<std::uint32_t>(family), 1);
        program.allow();
    }
    program.unless_equal(AF_NETLINK, 1);
    program.refuse(EAFNOSUPPORT);
    program.load_argument(2);
    // 0 is NETLINK_ROUTE.
    program.unless_equal(0, 1);
    program.refuse(EAFNOSUPPORT);
    program.allow();
    program.allow(); // all other calls
    return anonymous_file(program.bytes());
}

} // namespace cellgate::sandbox
