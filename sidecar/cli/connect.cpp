// `cellgate connect`: what editors start. It carries bytes between stdin and stdout and the root's sidecar, which it
// starts when there is none and which outlives it.

#include "async/stream.hpp"
#include "base/log.hpp"
#include "base/visible_text.hpp"
#include "commands.hpp"
#include "log_level_option.hpp"
#include "protocol/connection.hpp"
#include "protocol/message.hpp"
#include "root_sidecar.hpp"
#include "sandbox/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <unistd.h>

namespace cellgate::cli {

namespace {

// Of one direction; the system holds as much again.
constexpr std::size_t most_held = std::size_t{256} << 10;
// After the end of what the client says: for what the sidecar still answers.
constexpr Duration answers_within = std::chrono::seconds(5);

// The end of what a client said: `exit` is a short message, and the last one.
class LastWords {
  public:
    void add(const std::string& bytes) {
        constexpr std::size_t kept = 256;
        tail_ += bytes;
        tail_.erase(0, tail_.size() - std::min(tail_.size(), kept));
    }
    bool are_exit() const {
        const std::size_t headers_end = tail_.rfind("\r\n\r\n");
        if (headers_end == std::string::npos) {
            return false;
        }
        const std::string message = tail_.substr(headers_end + 4);
        try {
            return protocol::parse_message(message).method == "exit";
        } catch (const protocol::InvalidMessage&) {
            return false;
        }
    }

  private:
    std::string tail_;
};

struct Relay {
    LastWords last_words;
    bool client_ended = false;
    bool sidecar_ended = false;
    Event moved;
};

Task<void> carry(ByteStream* from, ByteStream* to, LastWords* last_words, Relay* relay, bool* ended) {
    std::exception_ptr error;
    try {
        while (true) {
            std::string bytes = co_await from->read();
            if (bytes.empty()) {
                break;
            }
            if (last_words != nullptr) {
                last_words->add(bytes);
            }
            to->write(std::move(bytes));
            co_await to->drained(most_held);
        }
    } catch (...) {
        error = std::current_exception();
    }
    *ended = true;
    relay->moved.set();
    if (error) {
        std::rethrow_exception(error);
    }
}

template <typename Closable>
Task<void> close_after(async::Loop* loop, Closable* stream, Duration patience) {
    co_await sleep_for(loop->clock(), patience);
    stream->close();
}

Task<void> until(Relay* relay, const bool* ended) {
    while (!*ended && !relay->sidecar_ended) {
        relay->moved.reset();
        co_await relay->moved.wait();
    }
}

// Until both have said what they had to say. Returns whether the sidecar ended before its client did.
Task<bool> carry_on(async::Loop* loop, async::UnixStream* sidecar, Relay* relay) {
    co_await until(relay, &relay->client_ended);
    if (!relay->client_ended) {
        co_return !relay->last_words.are_exit();
    }
    sidecar->close_output();
    TaskScope guard;
    guard.spawn(close_after(loop, sidecar, answers_within));
    co_await until(relay, &relay->sidecar_ended);
    guard.cancel();
    co_await guard.join();
    co_return false;
}

// Answers the first request, which is `initialize`, with why there is no sidecar: an editor shows that to its person,
// and does not try again by itself, as it does when the connection only ends.
Task<void> answer_with(async::Loop* loop, std::unique_ptr<ByteStream> client, Error error) {
    protocol::FramedConnection connection(std::move(client), protocol::Framing::content_length);
    TaskScope guard;
    guard.spawn(close_after(loop, &connection, answers_within));
    const std::optional<protocol::Frame> first = co_await connection.receive();
    if (first && first->problem.empty()) {
        try {
            const protocol::Message message = protocol::parse_message(first->text);
            if (message.kind == protocol::Message::Kind::request) {
                connection.send(protocol::error_text(message.id, error));
            }
        } catch (const protocol::InvalidMessage&) {
            // Nothing that could be answered.
        }
    }
    co_await connection.drained(0);
    connection.close();
    guard.cancel();
    co_await guard.join();
}

Task<void> relay(async::Loop* loop, RootSidecarOptions options, int* exit_code) {
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO); // whatever prints by mistake must not end up between messages
    std::unique_ptr<ByteStream> client = async::open_stream(*loop, ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), out);
    RootPlace place;
    std::unique_ptr<async::UnixStream> sidecar;
    std::optional<Error> problem;
    try {
        place = find_root_place(options.root, sandbox::process_environment());
        sidecar = co_await connect_to_root(*loop, std::move(options));
    } catch (const Error& error) {
        problem = error;
    }
    if (problem) {
        if (::isatty(STDIN_FILENO) == 0) { // a person who tries it says nothing
            co_await answer_with(loop, std::move(client), *problem);
        }
        throw *problem;
    }
    Relay relay;
    TaskScope tasks;
    tasks.spawn(carry(client.get(), sidecar.get(), &relay.last_words, &relay, &relay.client_ended));
    tasks.spawn(carry(sidecar.get(), client.get(), nullptr, &relay, &relay.sidecar_ended));
    const bool ended_first = co_await carry_on(loop, sidecar.get(), &relay);
    if (ended_first) {
        fmt::print(stderr,
                   "cellgate: the sidecar of {} ended, and what ran there with it; connect again for a new one. Its "
                   "log may say why: {}\n",
                   visible_text(place.root), visible_text(place.log));
    }
    client->close();
    sidecar->close();
    co_await tasks.join();
    *exit_code = relay.last_words.are_exit() ? 0 : 1;
}

} // namespace

void add_connect(CLI::App& app, Invocation& invocation) {
    auto options = std::make_shared<RootSidecarOptions>();
    options->root = ".";
    options->role = protocol::Role::person;
    CLI::App* command = app.add_subcommand(
        "connect", "Connect an editor, over stdin and stdout, to the workspace's sidecar, which outlives it");
    command->add_option("--root", options->root, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    command
        ->add_option("--trace", options->trace_file,
                     "If this starts the sidecar: it appends every message of every client to FILE, as JSON lines")
        ->type_name("FILE");
    command->add_flag(
        "--agent", [options](std::int64_t) { options->role = protocol::Role::agent; },
        "As an agent: it may run code, and sees and answers no approval");
    add_log_level(*command, options->log_level, "If this starts the sidecar: what it logs");
    command->callback([options, &invocation] {
        invocation.run = [options] {
            async::Loop loop;
            int exit_code = 1;
            loop.run(relay(&loop, *options, &exit_code));
            return exit_code;
        };
    });
}

} // namespace cellgate::cli
