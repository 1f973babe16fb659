#include "root_sidecar.hpp"

#include "async/detached.hpp"
#include "base/shell_words.hpp"
#include "base/visible_text.hpp"
#include "protocol/message.hpp"
#include "sandbox/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cellgate::cli {

namespace {

constexpr Duration first_look_after = std::chrono::milliseconds(2);
constexpr Duration most_between_looks = std::chrono::milliseconds(50);
// One that was started may find that another has the root, and end; that one may be about to go. So it is tried again,
// and what is started too often ends by itself.
constexpr Duration start_again_after = std::chrono::seconds(1);

// A sidecar that was started, and what it says on its stderr until it serves.
class StartedSidecar {
  public:
    StartedSidecar(const RootPlace& place, const RootSidecarOptions& options, Instant now) : place_(place), at_(now) {
        std::vector<std::string> words{"root-sidecar", "--root", place.root, "--log-level",
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

    // Why it will not serve, when it has ended or serves, and has said something. One that found another with the root
    // said nothing.
    std::optional<Error> last_words() {
        std::array<char, 4096> bytes{};
        while (stderr_ >= 0) {
            const ssize_t count = ::read(stderr_, bytes.data(), bytes.size());
            if (count < 0 && errno == EINTR) {
                continue;
            }
            if (count < 0 && errno == EAGAIN) {
                return std::nullopt;
            }
            if (count <= 0 || said_.size() >= most_said) {
                close();
                break;
            }
            said_.append(bytes.data(), static_cast<std::size_t>(count));
        }
        return said_.empty() ? std::nullopt : std::optional(failure());
    }

  private:
    static constexpr std::size_t most_said = std::size_t{64} << 10;

    Error failure() const {
        try {
            const protocol::Message message = protocol::parse_message(said_);
            if (message.kind == protocol::Message::Kind::error) {
                const protocol::RemoteError told = protocol::parse_error(message.payload);
                return Error(told.code, told.message, told.hint);
            }
        } catch (const protocol::InvalidMessage&) {
            // What the system wrote about a program that cannot run, say.
        }
        return Error(ErrorCode::internal_error,
                     fmt::format("the sidecar of {} ended as it started: {}", place_.root, said_),
                     fmt::format("its log may say more: {}", place_.log));
    }

    void close() {
        if (stderr_ >= 0) {
            ::close(std::exchange(stderr_, -1));
        }
    }

    const RootPlace& place_;
    Instant at_;
    int stderr_ = -1;
    std::string said_;
};

} // namespace

Error no_answer(const RootPlace& place, std::int64_t pid) {
    return Error(ErrorCode::internal_error,
                 fmt::format("the sidecar of {} (process {}) does not answer", visible_text(place.root), pid),
                 fmt::format("try again if the machine is busy; `cellgate stop --root {}` ends it, with all that it "
                             "runs. Its log may say why: {}",
                             shell_word(place.root), visible_text(place.log)));
}

Task<std::optional<RootConnection>> join_root(async::Loop& loop, RootPlace place, protocol::Role role,
                                              Duration patience) {
    std::unique_ptr<async::UnixStream> stream;
    try {
        stream = co_await async::connect_unix(loop, place.socket(role));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        co_return std::nullopt; // no socket, or one that nobody listens on
    }
    stream->write(client_greeting(CELLGATE_VERSION));
    const std::int64_t pid = stream->listener();
    std::optional<std::string> line;
    bool in_vain = false;
    try {
        line = co_await read_line(loop, *stream, patience, &in_vain);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        // It ended while we came.
    }
    if (in_vain) {
        RootConnection silent;
        silent.sidecar.pid = pid;
        silent.silent = true;
        co_return silent;
    }
    std::optional<Greeting> greeting = line ? parse_sidecar_greeting(*line) : std::nullopt;
    if (!greeting) {
        co_return std::nullopt;
    }
    RootConnection connection;
    connection.sidecar = std::move(*greeting);
    if (connection.sidecar.serving) {
        connection.stream = std::move(stream);
    }
    co_return connection;
}

Task<std::unique_ptr<async::UnixStream>> connect_to_root(async::Loop& loop, RootSidecarOptions options) {
    const RootPlace place = find_root_place(options.root, sandbox::process_environment());
    Clock& clock = loop.clock();
    const Instant deadline = clock.now() + options.patience;
    std::optional<StartedSidecar> started;
    Duration pause = first_look_after;
    while (true) {
        // Before the look, since one that serves may have said something too.
        const std::optional<Error> problem = started ? started->last_words() : std::nullopt;
        std::optional<RootConnection> found = co_await join_root(loop, place, options.role, deadline - clock.now());
        if (found && found->stream) {
            co_return std::move(found->stream);
        }
        if (found && found->silent) {
            throw no_answer(place, found->sidecar.pid);
        }
        if (found) {
            log_warning("the sidecar of this workspace was cellgate {} (process {}), which is older than this one "
                        "({}): it ends when its other clients have gone and what runs there has ended. A new one is "
                        "started, with kernels of its own",
                        found->sidecar.version, found->sidecar.pid, CELLGATE_VERSION);
            started.reset();
        }
        if (clock.now() >= deadline) {
            throw Error(
                ErrorCode::internal_error,
                fmt::format("no sidecar answered for {} within {:.0f} s", place.root, to_seconds(options.patience)),
                fmt::format("its log may say why: {}", place.log));
        }
        if (problem) {
            throw *problem;
        }
        if (!started || clock.now() - started->at() >= start_again_after) {
            started.emplace(place, options, clock.now());
            pause = first_look_after;
        }
        co_await sleep_for(clock, pause);
        pause = std::min(pause * 2, most_between_looks);
    }
}

} // namespace cellgate::cli
