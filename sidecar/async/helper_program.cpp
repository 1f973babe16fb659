#include "async/helper_program.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

// The file CELLGATE_HELPER, as it is, on pages that hold nothing else.
// NOLINTNEXTLINE(hicpp-no-assembler)
asm(R"(
    .pushsection .rodata.cellgate_helper, "a"
    .balign 4096
    .globl cellgate_helper_begin
    .hidden cellgate_helper_begin
cellgate_helper_begin:
    .incbin ")" CELLGATE_HELPER R"("
    .globl cellgate_helper_end
    .hidden cellgate_helper_end
cellgate_helper_end:
    .balign 4096
    .popsection
)");
extern "C" {
extern const char cellgate_helper_begin[];
extern const char cellgate_helper_end[];
}

namespace cellgate::async {

namespace {

int make_helper_program() {
    const int fd = ::memfd_create("cellgate-helper", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        throw system_error(ErrorCode::internal_error, "cannot make a file in memory", errno);
    }
    for (const char* at = cellgate_helper_begin; at != cellgate_helper_end;) {
        const ssize_t written = ::write(fd, at, static_cast<std::size_t>(cellgate_helper_end - at));
        if (written < 0 && errno != EINTR) {
            const int error = errno;
            ::close(fd);
            throw system_error(ErrorCode::internal_error, "cannot fill a file in memory", error);
        }
        at += written < 0 ? 0 : written;
    }
    ::fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    // It was read once, and will not be again.
    const long page = ::sysconf(_SC_PAGESIZE);
    const long whole = (cellgate_helper_end - cellgate_helper_begin) / page * page;
    ::madvise(const_cast<char*>(cellgate_helper_begin), static_cast<std::size_t>(whole), MADV_DONTNEED);
    return fd;
}

} // namespace

int helper_program() {
    static const int fd = make_helper_program();
    return fd;
}

} // namespace cellgate::async
