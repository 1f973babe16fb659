#include "daemon/serve_workspace.hpp"

#include "async/stream.hpp"
#include "base/environment.hpp"
#include "daemon/handshake.hpp"
#include "daemon/instance_paths.hpp"
#include "protocol/connection.hpp"
#include "protocol/message.hpp"
#include "service/sidecar.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <unistd.h>

namespace cellgate::daemon {

namespace {

// The process that started this one connects immediately, unless it was killed.
constexpr Duration first_client_timeout = std::chrono::seconds(30);
constexpr Duration handshake_timeout = std::chrono::seconds(10);
constexpr Duration accept_retry_delay = std::chrono::milliseconds(100);

class InstanceLock {
  public:
    explicit InstanceLock(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (fd_ < 0) {
            throw system_error(ErrorCode::store_failed, fmt::format("cannot open {}", path), errno);
        }
    }
    InstanceLock(const InstanceLock&) = delete;
    InstanceLock& operator=(const InstanceLock&) = delete;
    ~InstanceLock() { release(); }

    bool take() { return ::flock(fd_, LOCK_EX | LOCK_NB) == 0; }
    void release() {
        if (fd_ >= 0) {
            ::close(std::exchange(fd_, -1));
        }
    }

  private:
    int fd_;
};

// `Starter` is the process that started this one: it waits for the sockets, or for an error on our stderr.
class Starter {
  public:
    Starter() : fd_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {}
    Starter(const Starter&) = delete;
    Starter& operator=(const Starter&) = delete;
    ~Starter() { close(); }

    void report(const Error& error) {
        const std::string text = protocol::error_text(RawJson(), error);
        const ssize_t written = ::write(fd_, text.data(), text.size());
        static_cast<void>(written); // it may have ended; the log has the error as well
        close();
    }
    void close() {
        if (fd_ >= 0) {
            ::close(std::exchange(fd_, -1));
        }
    }

  private:
    int fd_;
};

class WorkspaceSidecar {
  public:
    WorkspaceSidecar(async::Loop& loop, const InstancePaths& paths, InstanceLock& lock, service::SidecarOptions options)
        : loop_(loop), lock_(lock), sidecar_(loop, std::move(options)),
          users_(loop, remove_stale(paths.socket(protocol::Role::user))),
          agents_(loop, remove_stale(paths.socket(protocol::Role::agent))) {}

    Task<void> run() {
        tasks_.spawn(accept_clients(&users_, protocol::Role::user));
        tasks_.spawn(accept_clients(&agents_, protocol::Role::agent));
        tasks_.spawn(end_on(SIGTERM));
        tasks_.spawn(end_on(SIGINT));
        tasks_.spawn(end_when_idle());
        co_await ended_.wait();
        stop_listening();
        tasks_.cancel();
        co_await tasks_.join();
        co_await sidecar_.close();
    }

  private:
    // An existing socket is stale: we hold the lock.
    static std::string remove_stale(std::string path) {
        ::unlink(path.c_str());
        return path;
    }

    Task<void> end_on(int signal) {
        co_await async::wait_for_signal(loop_, signal);
        log_info("ends on signal {}", signal);
        ended_.set();
    }

    Task<void> end_when_idle() {
        sidecar_.expect_client(first_client_timeout);
        while (sidecar_.needed()) { // a client may have connected before this task resumed
            co_await sidecar_.wait_idle();
        }
        stop_listening();
        log_info("ends: no client needs it");
        ended_.set();
    }

    // From here on another sidecar may serve the workspace: it takes the lock and recreates the sockets.
    void stop_listening() {
        leaving_ = true;
        users_.close();
        agents_.close();
        lock_.release();
    }

    Task<void> accept_clients(async::UnixListener* listener, protocol::Role role) {
        while (true) {
            std::unique_ptr<ByteStream> stream;
            std::string problem;
            try {
                stream = co_await listener->accept();
                if (!stream) {
                    co_return;
                }
            } catch (const Cancelled&) {
                throw;
            } catch (const Error& error) { // for example too many open files
                problem = error.message;
            }
            if (stream) {
                tasks_.spawn(serve(std::move(stream), role));
            } else {
                log_error("{}", problem);
                co_await sleep_for(loop_.clock(), accept_retry_delay);
            }
        }
    }

    Task<void> serve(std::unique_ptr<ByteStream> stream, protocol::Role role) {
        const std::optional<std::string> line = co_await read_line(loop_, *stream, handshake_timeout);
        const std::optional<std::string> version = line ? parse_client_handshake(*line) : std::nullopt;
        if (!version || leaving_) {
            co_return;
        }
        const bool newer = role == protocol::Role::user && is_older(CELLGATE_VERSION, *version);
        if (newer) {
            log_warning("a client of version {} came, which is newer: this sidecar ({}) ends when its clients have "
                        "left and its executions have ended",
                        *version, CELLGATE_VERSION);
            stop_listening();
            sidecar_.drain();
        }
        const Handshake handshake{CELLGATE_VERSION, ::getpid(), !newer};
        stream->write(sidecar_handshake(handshake));
        if (newer) {
            co_return;
        }
        auto connection =
            std::make_shared<protocol::FramedConnection>(std::move(stream), protocol::Framing::content_length);
        co_await sidecar_.serve(std::move(connection), role);
    }

    async::Loop& loop_;
    InstanceLock& lock_;
    service::Sidecar sidecar_;
    async::UnixListener users_;
    async::UnixListener agents_;
    bool leaving_ = false;
    Event ended_;
    TaskScope tasks_;
};

Task<void> serve(async::Loop* loop, const InstancePaths* paths, InstanceLock* lock, Starter* starter,
                 service::SidecarOptions options) {
    WorkspaceSidecar sidecar(*loop, *paths, *lock, std::move(options));
    starter->close();
    log_info("cellgate {} serves {} as process {}", CELLGATE_VERSION, paths->workspace, ::getpid());
    co_await sidecar.run();
}

} // namespace

int serve_workspace(const ServeWorkspaceOptions& options) {
    service::SidecarOptions sidecar_options;
    sidecar_options.environment = process_environment();
    const InstancePaths paths = find_instance_paths(options.workspace, sidecar_options.environment);
    sidecar_options.workspace = paths.workspace;
    if (!options.trace_file.empty()) {
        sidecar_options.trace_file = options.trace_file;
    }
    InstanceLock lock(paths.lock());
    if (!lock.take()) {
        return 0; // the workspace has a sidecar
    }
    Starter starter;
    log_to_file(paths.log);
    set_log_level(options.log_level);
    try {
        async::Loop loop;
        loop.run(serve(&loop, &paths, &lock, &starter, std::move(sidecar_options)));
    } catch (const Error& error) {
        log_error("{}", error.what());
        starter.report(error);
        return 1;
    } catch (const std::exception& error) {
        log_error("{}", error.what());
        starter.report(Error(ErrorCode::internal_error, error.what()));
        return 1;
    }
    return 0;
}

} // namespace cellgate::daemon
