#include "async/cleanup_registration.hpp"

#include "async/helper_program.hpp"
#include "base/error.hpp"
#include "base/unique_fd.hpp"

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

Error janitor_error(int error) {
    return system_error(ErrorCode::internal_error,
                        "cannot start the janitor, which removes this process's temporary files", error);
}

// In its own session, so that ^C at our terminal does not end it before us.
pid_t spawn_janitor(int socket) {
    const UniqueFd helper(::fcntl(helper_program(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (helper.get() < 0) {
        throw janitor_error(errno);
    }
    const std::string path = fmt::format("/proc/self/fd/{}", helper.get());
    std::string name = "cellgate";
    std::string mode = "janitor";
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
        throw janitor_error(error);
    }
    return pid;
}

class Janitor {
  public:
    void add(const std::string& message) {
        const std::lock_guard lock(mutex_);
        if (owner_ != ::getpid()) { // a fork of the process that started the janitor: it starts its own
            owner_ = ::getpid();
            known_.clear();
            disconnect();
        }
        known_.insert(message);
        if (!send_to('+', message)) {
            restart();
        }
    }
    void remove(const std::string& message) {
        const std::lock_guard lock(mutex_);
        known_.erase(message);
        send_to('-', message); // a janitor that has ended needs no message
    }

  private:
    bool send_to(char what, const std::string& message) const {
        const std::string packet = what + message;
        return socket_ >= 0 &&
               ::send(socket_, packet.data(), packet.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(packet.size());
    }

    void disconnect() {
        if (socket_ >= 0) {
            ::close(std::exchange(socket_, -1));
            ::waitpid(process_, nullptr, WNOHANG);
        }
    }

    void restart() {
        disconnect();
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
            throw janitor_error(errno);
        }
        UniqueFd ours(ends[0]);
        // A janitor that does not read is of no use.
        const timeval limit{2, 0};
        ::setsockopt(ours.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        // A dup2 onto itself would leave it closed by exec.
        const UniqueFd first(ends[1]);
        const UniqueFd theirs(::fcntl(first.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
        if (theirs.get() < 0) {
            throw janitor_error(errno);
        }
        process_ = spawn_janitor(theirs.get());
        socket_ = ours.release();
        for (const std::string& message : known_) {
            if (!send_to('+', message)) {
                throw janitor_error(errno);
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
Janitor& janitor() {
    static auto* const the_one = new Janitor;
    return *the_one;
}

} // namespace

CleanupRegistration::CleanupRegistration(CleanupKind kind, const std::string& path)
    : message_((kind == CleanupKind::folder ? 'f' : 'g') + path) {
    janitor().add(message_);
}

CleanupRegistration::~CleanupRegistration() {
    janitor().remove(message_);
}

} // namespace cellgate::async
