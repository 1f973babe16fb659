#include "root_sidecar.hpp"

#include "async/detached.hpp"
#include "base/shell_words.hpp"
#include "base/visible_text.hpp"
#include "sandbox/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace cellgate::cli {

namespace {

constexpr Duration first_look_after = std::chrono::milliseconds(2);
constexpr Duration most_between_looks = std::chrono::milliseconds(50);
// One that was started may find that another has the root, and end; that one may be about to go. So it is tried again,
// and what is started too often ends by itself.
constexpr Duration start_again_after = std::chrono::seconds(1);

void start_sidecar(const RootPlace& place, const RootSidecarOptions& options) {
    std::vector<std::string> words{"root-sidecar", "--root", place.root, "--log-level",
                                   std::string(name_of(options.log_level))};
    if (!options.trace_file.empty()) {
        words.insert(words.end(), {"--trace", std::filesystem::absolute(options.trace_file)});
    }
    async::start_detached(words);
}

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
    std::optional<Instant> started;
    Duration pause = first_look_after;
    while (true) {
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
        if (!started || clock.now() - *started >= start_again_after) {
            start_sidecar(place, options);
            started = clock.now();
            pause = first_look_after;
        }
        co_await sleep_for(clock, pause);
        pause = std::min(pause * 2, most_between_looks);
    }
}

} // namespace cellgate::cli
