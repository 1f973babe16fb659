#include "async/swept.hpp"

#include "async/helper_program.hpp"
#include "base/error.hpp"
#include "owned_fd.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace cellgate::async {

namespace {

Error no_sweeper(int error) {
    return system_error(ErrorCode::internal_error, "cannot start the process that clears up after this one", error);
}

// It leads a session of its own, so that no ^C at our terminal ends it before us.
pid_t spawn_sweeper(int socket) {
    const OwnedFd helper(::fcntl(helper_program(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (helper.fd < 0) {
        throw no_sweeper(errno);
    }
    const std::string path = fmt::format("/proc/self/fd/{}", helper.fd);
    std::string name = "cellgate";
    std::string mode = "sweep";
    std::array<char*, 3> argv = {name.data(), mode.data(), nullptr};
    std::array<char*, 1> environment = {nullptr};
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, path.c_str(), &files, &attributes, argv.data(), environment.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) {
        throw no_sweeper(error);
    }
    return pid;
}

class Sweeper {
  public:
    void add(const std::string& message) {
        const std::lock_guard lock(mutex_);
        if (owner_ != ::getpid()) { // a copy of the process whose sweeper it is: it has one of its own
            owner_ = ::getpid();
            known_.clear();
            leave();
        }
        known_.insert(message);
        if (!tell('+', message)) {
            start_anew();
        }
    }
    void forget(const std::string& message) {
        const std::lock_guard lock(mutex_);
        known_.erase(message);
        tell('-', message); // one that is gone needs not be told
    }

  private:
    bool tell(char what, const std::string& message) const {
        const std::string whole = what + message;
        return socket_ >= 0 &&
               ::send(socket_, whole.data(), whole.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(whole.size());
    }

    void leave() {
        if (socket_ >= 0) {
            ::close(std::exchange(socket_, -1));
            ::waitpid(process_, nullptr, WNOHANG);
        }
    }

    void start_anew() {
        leave();
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
            throw no_sweeper(errno);
        }
        OwnedFd ours(ends[0]);
        // One that does not even read is of no use.
        const timeval longest{2, 0};
        ::setsockopt(ours.fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
        // A dup2 onto itself would leave it closed by exec.
        const OwnedFd first(ends[1]);
        const OwnedFd theirs(::fcntl(first.fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
        if (theirs.fd < 0) {
            throw no_sweeper(errno);
        }
        process_ = spawn_sweeper(theirs.fd);
        socket_ = ours.release();
        for (const std::string& message : known_) {
            if (!tell('+', message)) {
                throw no_sweeper(errno);
            }
        }
    }

    std::mutex mutex_;
    std::set<std::string> known_;
    pid_t owner_ = ::getpid();
    pid_t process_ = -1;
    int socket_ = -1;
};

// Never destroyed: threads may still end something while the process does.
Sweeper& sweeper() {
    static auto* const the_one = new Sweeper;
    return *the_one;
}

} // namespace

Swept::Swept(SweptKind kind, const std::string& path) : message_((kind == SweptKind::folder ? 'f' : 'g') + path) {
    sweeper().add(message_);
}

Swept::~Swept() {
    sweeper().forget(message_);
}

} // namespace cellgate::async
