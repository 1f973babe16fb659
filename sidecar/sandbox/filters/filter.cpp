#include "filters/filter.hpp"

#include <cerrno>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

constexpr std::uint64_t low_half = 0xffff'ffff; // all that the kernel looks at where it takes an int

[[noreturn]] void fail(const char* what, int error) {
    throw std::system_error(error, std::generic_category(), what);
}

} // namespace

Filter::Filter() : context_(::seccomp_init(SCMP_ACT_ALLOW), &::seccomp_release) {
    if (!context_) {
        fail("cannot make a filter of system calls", ENOMEM);
    }
    // Of x86 this is also what becomes of the second numbers, those for 32-bit pointers.
    require(::seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)));
}

std::string Filter::compiled() const {
    const int file = ::memfd_create("filter", MFD_CLOEXEC); // 2.5 of the library writes to descriptors only
    require(::seccomp_export_bpf(context_.get(), file));
    std::string bytes(static_cast<std::size_t>(::lseek(file, 0, SEEK_END)), '\0');
    const ssize_t size = ::pread(file, bytes.data(), bytes.size(), 0);
    ::close(file);
    if (size != static_cast<ssize_t>(bytes.size())) {
        fail("cannot read the filter of system calls", errno);
    }
    return bytes;
}

void Filter::require(int result) {
    if (result != 0) {
        fail("cannot make the filter of system calls", -result);
    }
}

scmp_arg_cmp has_bits(unsigned number, std::uint64_t bits) {
    return has_of(number, bits, bits);
}

scmp_arg_cmp has_of(unsigned number, std::uint64_t mask, std::uint64_t bits) {
    return {number, SCMP_CMP_MASKED_EQ, mask, bits};
}

scmp_arg_cmp is(unsigned number, std::uint64_t value) {
    return has_of(number, low_half, value);
}

scmp_arg_cmp is_beyond(unsigned number, std::uint64_t value) {
    return {number, SCMP_CMP_GT, value, 0};
}

scmp_arg_cmp is_not(unsigned number, std::uint64_t value) {
    return {number, SCMP_CMP_NE, value, 0};
}

} // namespace cellgate::sandbox
