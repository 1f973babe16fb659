// `cellgate connect`: what editors start. It carries bytes between stdin and stdout and the root's sidecar, which it
// starts when there is none and which outlives it.

#include "async/stream.hpp"
#include "base/log.hpp"
#include "commands.hpp"
#include "log_level_option.hpp"
#include "protocol/message.hpp"
#include "root_sidecar.hpp"

#include <algorithm>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace cellgate::cli {

namespace {

// Of one direction; the system holds as much again.
constexpr std::size_t most_held = std::size_t{256} << 10;

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

Task<void> carry(ByteStream* from, ByteStream* to, LastWords* last_words, Event* ended) {
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
    ended->set();
    if (error) {
        std::rethrow_exception(error);
    }
}

Task<void> relay(async::Loop* loop, RootSidecarOptions options, int* exit_code) {
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO); // whatever prints by mistake must not end up between messages
    const std::unique_ptr<ByteStream> client =
        async::open_stream(*loop, ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), out);
    const std::unique_ptr<ByteStream> sidecar = co_await connect_to_root(*loop, std::move(options));
    LastWords last_words;
    Event ended;
    TaskScope tasks;
    tasks.spawn(carry(client.get(), sidecar.get(), &last_words, &ended));
    tasks.spawn(carry(sidecar.get(), client.get(), nullptr, &ended));
    co_await ended.wait();
    client->close();
    sidecar->close();
    co_await tasks.join();
    *exit_code = last_words.are_exit() ? 0 : 1;
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
