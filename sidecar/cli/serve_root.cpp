// `cellgate root-sidecar --root DIR`: the sidecar of a root, started detached by connect_to_root(). It listens on the
// root's two sockets, and ends when nobody needs it or on SIGTERM. Another one that finds the lock taken ends at once.
// One that cannot serve says why on its stderr, as the text of a JSON-RPC error.

#include "async/stream.hpp"
#include "base/log.hpp"
#include "commands.hpp"
#include "greeting.hpp"
#include "log_level_option.hpp"
#include "protocol/connection.hpp"
#include "protocol/message.hpp"
#include "root_place.hpp"
#include "service/sidecar.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <unistd.h>

namespace cellgate::cli {

namespace {

// Whoever started this one comes at once, unless that was killed.
constexpr Duration first_client_within = std::chrono::seconds(30);
constexpr Duration greeting_within = std::chrono::seconds(10);
constexpr Duration accept_again_after = std::chrono::milliseconds(100);

class RootLock {
  public:
    explicit RootLock(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (fd_ < 0) {
            throw system_error(ErrorCode::store_failed, fmt::format("cannot open {}", path), errno);
        }
    }
    RootLock(const RootLock&) = delete;
    RootLock& operator=(const RootLock&) = delete;
    ~RootLock() { release(); }

    bool take() { return ::flock(fd_, LOCK_EX | LOCK_NB) == 0; }
    void release() {
        if (fd_ >= 0) {
            ::close(std::exchange(fd_, -1));
        }
    }

  private:
    int fd_;
};

// Whoever started this one: it waits for the sockets, or to hear on our stderr why there will be none.
class Starter {
  public:
    Starter() : fd_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {}
    Starter(const Starter&) = delete;
    Starter& operator=(const Starter&) = delete;
    ~Starter() { let_go(); }

    void tell(const Error& error) {
        const std::string text = protocol::error_text(RawJson(), error);
        const ssize_t written = ::write(fd_, text.data(), text.size());
        static_cast<void>(written); // it may have gone; the log has it as well
        let_go();
    }
    void let_go() {
        if (fd_ >= 0) {
            ::close(std::exchange(fd_, -1));
        }
    }

  private:
    int fd_;
};

class RootSidecar {
  public:
    RootSidecar(async::Loop& loop, const RootPlace& place, RootLock& lock, service::SidecarOptions options)
        : loop_(loop), lock_(lock), sidecar_(loop, std::move(options)),
          persons_(loop, fresh(place.socket(protocol::Role::person))),
          agents_(loop, fresh(place.socket(protocol::Role::agent))) {}

    Task<void> run() {
        tasks_.spawn(welcome(&persons_, protocol::Role::person));
        tasks_.spawn(welcome(&agents_, protocol::Role::agent));
        tasks_.spawn(end_on(SIGTERM));
        tasks_.spawn(end_on(SIGINT));
        tasks_.spawn(end_when_unneeded());
        co_await ended_.wait();
        leave();
        tasks_.cancel();
        co_await tasks_.join();
        co_await sidecar_.close();
    }

  private:
    // What lies there is stale: we have the lock.
    static std::string fresh(std::string path) {
        ::unlink(path.c_str());
        return path;
    }

    Task<void> end_on(int signal) {
        co_await async::wait_for_signal(loop_, signal);
        log_info("ends on signal {}", signal);
        ended_.set();
    }

    Task<void> end_when_unneeded() {
        sidecar_.expect_client(first_client_within);
        while (sidecar_.needed()) { // somebody may have come before this task had its turn
            co_await sidecar_.unneeded();
        }
        leave();
        log_info("ends: nobody needs it");
        ended_.set();
    }

    // From here on the root is another one's: its sockets are made anew by whoever takes the lock.
    void leave() {
        leaving_ = true;
        persons_.close();
        agents_.close();
        lock_.release();
    }

    Task<void> welcome(async::UnixListener* listener, protocol::Role role) {
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
            } catch (const Error& error) { // too many open files, say
                problem = error.message;
            }
            if (stream) {
                tasks_.spawn(serve(std::move(stream), role));
            } else {
                log_error("{}", problem);
                co_await sleep_for(loop_.clock(), accept_again_after);
            }
        }
    }

    Task<void> serve(std::unique_ptr<ByteStream> stream, protocol::Role role) {
        const std::optional<std::string> line = co_await read_line(loop_, *stream, greeting_within);
        const std::optional<std::string> version = line ? parse_client_greeting(*line) : std::nullopt;
        if (!version || leaving_) {
            co_return;
        }
        const bool newer = role == protocol::Role::person && is_older(CELLGATE_VERSION, *version);
        if (newer) {
            log_warning("a client of version {} came, which is newer: this sidecar ({}) ends when its clients have "
                        "gone and what runs has ended",
                        *version, CELLGATE_VERSION);
            leave();
            sidecar_.drain();
        }
        const Greeting greeting{CELLGATE_VERSION, ::getpid(), !newer};
        stream->write(sidecar_greeting(greeting));
        if (newer) {
            co_return;
        }
        auto connection =
            std::make_shared<protocol::FramedConnection>(std::move(stream), protocol::Framing::content_length);
        co_await sidecar_.serve(std::move(connection), role);
    }

    async::Loop& loop_;
    RootLock& lock_;
    service::Sidecar sidecar_;
    async::UnixListener persons_;
    async::UnixListener agents_;
    bool leaving_ = false;
    Event ended_;
    TaskScope tasks_;
};

Task<void> serve_root(async::Loop* loop, const RootPlace* place, RootLock* lock, Starter* starter,
                      service::SidecarOptions options) {
    RootSidecar sidecar(*loop, *place, *lock, std::move(options));
    starter->let_go();
    log_info("cellgate {} serves {} as process {}", CELLGATE_VERSION, place->root, ::getpid());
    co_await sidecar.run();
}

struct RootSidecarArguments {
    std::string root;
    std::string trace;
    LogLevel log_level = LogLevel::info;
};

int run_root_sidecar(const RootSidecarArguments& arguments) {
    service::SidecarOptions options;
    options.environment = sandbox::process_environment();
    const RootPlace place = find_root_place(arguments.root, options.environment);
    options.root = place.root;
    if (!arguments.trace.empty()) {
        options.trace_file = arguments.trace;
    }
    RootLock lock(place.lock());
    if (!lock.take()) {
        return 0; // the root has its sidecar
    }
    Starter starter;
    log_to_file(place.log);
    set_log_level(arguments.log_level);
    try {
        async::Loop loop;
        loop.run(serve_root(&loop, &place, &lock, &starter, std::move(options)));
    } catch (const Error& error) {
        log_error("{}", error.what());
        starter.tell(error);
        return 1;
    } catch (const std::exception& error) {
        log_error("{}", error.what());
        starter.tell(Error(ErrorCode::internal_error, error.what()));
        return 1;
    }
    return 0;
}

} // namespace

void add_root_sidecar(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<RootSidecarArguments>();
    CLI::App* command = app.add_subcommand("root-sidecar", "The sidecar of a workspace; `connect` starts it");
    command->group(""); // not for people
    command->add_option("--root", arguments->root)->required();
    command->add_option("--trace", arguments->trace);
    add_log_level(*command, arguments->log_level, {});
    command->callback(
        [arguments, &invocation] { invocation.run = [arguments] { return run_root_sidecar(*arguments); }; });
}

} // namespace cellgate::cli
