#include "daemon/connect.hpp"

#include "async/detached.hpp"
#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"
#include "base/shell_words.hpp"
#include "protocol/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cellgate::daemon {

namespace {

constexpr Duration initial_poll_interval = std::chrono::milliseconds(2);
constexpr Duration max_poll_interval = std::chrono::milliseconds(50);
// A started sidecar ends if another holds the lock, and that one may be about to end. So the start is repeated; a
// superfluous sidecar ends by itself.
constexpr Duration restart_interval = std::chrono::seconds(1);

// `StartedSidecar` is a sidecar started by this process, with its stderr until it serves.
class StartedSidecar {
  public:
    StartedSidecar(const InstancePaths& paths, const WorkspaceSidecarOptions& options, Instant now)
        : paths_(paths), at_(now) {
        std::vector<std::string> words{"workspace-sidecar", "--root", paths.workspace, "--log-level",
                                       std::string(name_of(options.log_level))};
        if (!options.trace_file.empty()) {
            words.insert(words.end(), {"--trace", std::filesystem::absolute(options.trace_file)});
        }
        stderr_ = async::start_detached(words);
    }
    StartedSidecar(const StartedSidecar&) = delete;
    StartedSidecar& operator=(const StartedSidecar&) = delete;
    ~StartedSidecar() { close(); }

    Instant at() const { return at_; }

    // The reason why it will not serve, once it ended with a message. A sidecar that found the lock taken writes none.
    std::optional<Error> startup_error() {
        std::array<char, 4096> bytes{};
        while (stderr_ >= 0) {
            const ssize_t count = ::read(stderr_, bytes.data(), bytes.size());
            if (count < 0 && errno == EINTR) {
                continue;
            }
            if (count < 0 && errno == EAGAIN) {
                return std::nullopt;
            }
            if (count <= 0 || stderr_text_.size() >= max_stderr_bytes) {
                close();
                break;
            }
            stderr_text_.append(bytes.data(), static_cast<std::size_t>(count));
        }
        return stderr_text_.empty() ? std::nullopt : std::optional(failure());
    }

  private:
    static constexpr std::size_t max_stderr_bytes = std::size_t{64} << 10;

    Error failure() const {
        try {
            const protocol::Message message = protocol::parse_message(stderr_text_);
            if (message.kind == protocol::Message::Kind::error) {
                const protocol::RemoteError told = protocol::parse_error(message.payload);
                return Error(told.code, told.message, told.hint);
            }
        } catch (const protocol::InvalidMessage&) {
            // For example the system's message about a program that cannot run.
        }
        return Error(ErrorCode::internal_error,
                     fmt::format("the sidecar of {} ended as it started: {}", paths_.workspace, stderr_text_),
                     fmt::format("its log may say more: {}", paths_.log));
    }

    void close() {
        if (stderr_ >= 0) {
            ::close(std::exchange(stderr_, -1));
        }
    }

    const InstancePaths& paths_;
    Instant at_;
    int stderr_ = -1;
    std::string stderr_text_;
};

} // namespace

Error no_answer(const InstancePaths& paths, std::int64_t pid) {
    return Error(
        ErrorCode::internal_error,
        fmt::format("the sidecar of {} (process {}) does not answer", escape_unprintable(paths.workspace), pid),
        fmt::format("try again if the machine is busy; `cellgate stop --root {}` ends it, with all that it "
                    "runs. Its log may say why: {}",
                    shell_word(paths.workspace), escape_unprintable(paths.log)));
}

Task<std::optional<SidecarConnection>> join_workspace(async::Loop& loop, InstancePaths paths, protocol::Role role,
                                                      Duration timeout) {
    std::unique_ptr<async::UnixStream> stream;
    try {
        stream = co_await async::connect_unix(loop, paths.socket(role));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        co_return std::nullopt; // no socket, or a stale one
    }
    stream->write(client_handshake(CELLGATE_VERSION));
    const std::int64_t pid = stream->listener();
    std::optional<std::string> line;
    bool timed_out = false;
    try {
        line = co_await read_line(loop, *stream, timeout, &timed_out);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        // It ended while we came.
    }
    if (timed_out) {
        SidecarConnection silent;
        silent.sidecar.pid = pid;
        silent.silent = true;
        co_return silent;
    }
    std::optional<Handshake> handshake = line ? parse_sidecar_handshake(*line) : std::nullopt;
    if (!handshake) {
        co_return std::nullopt;
    }
    SidecarConnection connection;
    connection.sidecar = std::move(*handshake);
    if (connection.sidecar.serving) {
        connection.stream = std::move(stream);
    }
    co_return connection;
}

Task<std::unique_ptr<async::UnixStream>> connect_to_workspace(async::Loop& loop, WorkspaceSidecarOptions options) {
    const InstancePaths paths = find_instance_paths(options.workspace, process_environment());
    Clock& clock = loop.clock();
    const Instant deadline = clock.now() + options.timeout;
    std::optional<StartedSidecar> started;
    Duration pause = initial_poll_interval;
    while (true) {
        // Before joining, as a sidecar that serves may have written something too.
        const std::optional<Error> problem = started ? started->startup_error() : std::nullopt;
        std::optional<SidecarConnection> found =
            co_await join_workspace(loop, paths, options.role, deadline - clock.now());
        if (found && found->stream) {
            co_return std::move(found->stream);
        }
        if (found && found->silent) {
            throw no_answer(paths, found->sidecar.pid);
        }
        if (found) {
            log_warning("the sidecar of this workspace was cellgate {} (process {}), which is older than this one "
                        "({}): it ends when its other clients have left and its executions have ended. A new one is "
                        "started, with kernels of its own",
                        found->sidecar.version, found->sidecar.pid, CELLGATE_VERSION);
            started.reset();
        }
        if (clock.now() >= deadline) {
            throw Error(
                ErrorCode::internal_error,
                fmt::format("no sidecar answered for {} within {:.0f} s", paths.workspace, to_seconds(options.timeout)),
                fmt::format("its log may say why: {}", paths.log));
        }
        if (problem) {
            throw *problem;
        }
        if (!started || clock.now() - started->at() >= restart_interval) {
            started.emplace(paths, options, clock.now());
            pause = initial_poll_interval;
        }
        co_await sleep_for(clock, pause);
        pause = std::min(pause * 2, max_poll_interval);
    }
}

} // namespace cellgate::daemon
