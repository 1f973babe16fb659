#include "daemon/stdio.hpp"

#include "async/stream.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace cellgate::daemon {

std::unique_ptr<ByteStream> take_stdio(async::Loop& loop) {
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    return async::open_stream(loop, ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), out);
}

} // namespace cellgate::daemon
