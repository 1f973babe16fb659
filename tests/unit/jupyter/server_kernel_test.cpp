// A kernel on a Jupyter server of the test's own.

#include "async/process.hpp"
#include "async/tcp.hpp"
#include "async/tcp_listener.hpp"
#include "base/sync.hpp"
#include "jupyter/server_kernel.hpp"
#include "support.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <random>
#include <set>

using namespace cellgate;
using namespace cellgate::jupyter;
using namespace cellgate::jupyter::test;

namespace {

using namespace std::chrono_literals;

constexpr Duration limit = 120s;

// A Jupyter server: its address is in what it prints.
struct Server {
    Server(async::Loop& loop, const std::string& directory, const std::vector<std::string>& arguments) {
        async::Command command;
        command.argv = {"/usr/bin/python3",
                        "-m",
                        "jupyter_server",
                        "--allow-root",
                        "--no-browser",
                        "--ServerApp.ip=127.0.0.1",
                        fmt::format("--ServerApp.port={}", async::TcpListener(loop, 0).port()), // or the next free one
                        "--ServerApp.token=the-token",
                        "--ServerApp.root_dir=" + directory};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", directory}};
        command.stderr_to_stdout = true;
        process = async::start_process(loop, std::move(command));
    }
    // Waits until it listens.
    Task<void> listen() {
        std::string said;
        while (url.empty()) {
            const std::string bytes = co_await process->stdio().read();
            REQUIRE_MESSAGE(!bytes.empty(), said);
            said += bytes;
            const std::size_t begin = said.find("http://127.0.0.1:");
            if (begin != std::string::npos && said.find("/?token", begin) != std::string::npos) {
                url = said.substr(begin, said.find("/?token", begin) - begin);
            }
        }
        draining.spawn(drain(this));
    }
    static Task<void> drain(Server* self) {
        std::string bytes;
        do {
            bytes = co_await self->process->stdio().read();
            self->log += bytes;
            self->logged.set();
        } while (!bytes.empty());
    }
    static Task<void> until_logged(Server* self, std::string text) {
        while (self->log.find(text) == std::string::npos) {
            self->logged.reset();
            co_await self->logged.wait();
        }
    }
    Task<void> end() {
        co_await process->stop(Duration::zero());
        co_await draining.join();
    }
    std::unique_ptr<async::Process> process;
    std::string url;
    std::string log; // since it listens
    Event logged;
    TaskScope draining;
};

// A way to the server that a test can cut.
struct Relay {
    Relay(async::Loop& loop_in, std::uint16_t target_in) : loop(loop_in), target(target_in), listener(loop, 0) {
        lets_through.set();
        tasks.spawn(accept());
    }
    std::string url() const { return fmt::format("http://127.0.0.1:{}", listener.port()); }

    Task<void> accept() {
        while (std::shared_ptr<async::SocketStream> near = co_await listener.accept()) {
            co_await until_set(lets_through);
            Endpoint endpoint{*parse_host("127.0.0.1"), target};
            std::shared_ptr<async::SocketStream> far = co_await async::connect_tcp(loop, std::move(endpoint));
            streams.push_back(near);
            streams.push_back(far);
            tasks.spawn(carry(near, far));
            tasks.spawn(carry(far, near));
        }
    }
    Task<void> carry(std::shared_ptr<async::SocketStream> from, std::shared_ptr<async::SocketStream> to) {
        try {
            for (std::string bytes = co_await from->read(); !bytes.empty(); bytes = co_await from->read()) {
                const bool ends = left && bytes.size() >= *left;
                to->write(ends ? bytes.substr(0, *left) : bytes);
                if (ends) {
                    left.reset();
                    ++cuts;
                    cut();
                } else if (left) {
                    *left -= bytes.size();
                }
            }
        } catch (const Error&) {
        }
        to->close();
    }
    void cut() {
        for (const auto& stream : std::exchange(streams, {})) {
            stream->close();
        }
    }
    Task<void> end() {
        listener.close();
        lets_through.set();
        cut();
        co_await tasks.join();
    }

    async::Loop& loop;
    std::uint16_t target;
    async::TcpListener listener;
    std::vector<std::shared_ptr<async::SocketStream>> streams;
    std::optional<std::size_t> left; // bytes until all is cut
    int cuts = 0;
    Event lets_through; // connections wait for it
    TaskScope tasks;
};

struct ServerParts {
    Kernel* kernel;
    Recorder* recorder;
    Relay* relay;
    Server* server;
    std::string directory;
};
using Scene = Task<void> (*)(ServerParts parts);

Task<void> play_with_kernel(async::Loop* loop, ServerParts parts, Scene scene) {
    Recorder recorder;
    ServerAddress address{parts.relay->url(), "the-token"};
    Environment environment;
    std::unique_ptr<Kernel> kernel = co_await start_server_kernel(
        *loop, std::move(address), "python3", std::move(environment), recorder, loop->clock().now() + limit);
    parts.kernel = kernel.get();
    parts.recorder = &recorder;
    co_await finally(scene(parts), kernel->stop(Duration::zero()));
}

Task<void> play_through_relay(async::Loop* loop, ServerParts parts, std::uint16_t port, Scene scene) {
    Relay relay(*loop, port);
    parts.relay = &relay;
    co_await finally(play_with_kernel(loop, parts, scene), relay.end());
}

Task<void> play_on_server(async::Loop* loop, std::vector<std::string> arguments, Scene scene) {
    const TempDirectory directory;
    Server server(*loop, directory.path.string(), arguments);
    co_await server.listen();
    const auto port = static_cast<std::uint16_t>(std::stoi(server.url.substr(server.url.rfind(':') + 1)));
    ServerParts parts{nullptr, nullptr, nullptr, &server, directory.path.string()};
    co_await finally(play_through_relay(loop, std::move(parts), port, scene), server.end());
}

void run_on_server(Scene scene, std::vector<std::string> arguments = {}) {
    async::Loop loop;
    loop.run(play_on_server(&loop, std::move(arguments), scene));
}

Task<void> ordinary(ServerParts parts) {
    Kernel* kernel = parts.kernel;
    CHECK(kernel->info().language == "python");
    CHECK_FALSE(kernel->pid());
    ExecuteRequest request = code("cell-1", "print('one'); 1 + 1");
    const ExecuteReply reply = co_await kernel->client().execute(std::move(request));
    CHECK(reply.status == ExecuteStatus::ok);
    CHECK(parts.recorder->stream_text() == "one\n");
    ExecuteRequest wrong = code("cell-2", "1/0");
    const ExecuteReply error = co_await kernel->client().execute(std::move(wrong));
    CHECK(error.status == ExecuteStatus::error);
    CHECK(error.error->ename == "ZeroDivisionError");
}

struct Ran {
    std::optional<ExecuteReply> reply;
    Event ended;
};

Task<void> execute_for(KernelClient* client, ExecuteRequest request, Ran* ran) {
    ran->reply = co_await client->execute(std::move(request));
    ran->ended.set();
}

bool has_said(Recorder* recorder, std::string_view stream, std::string_view text) {
    return recorder->stream_text(std::string(stream)).find(text) != std::string::npos;
}

Task<void> until_exists(async::Loop* loop, std::filesystem::path file) {
    while (!std::filesystem::exists(file)) {
        co_await sleep_for(loop->clock(), 10ms);
    }
}

// The code runs until the connection is made again: the server takes a message of an idle kernel for itself then.
Task<void> cut_while_running(ServerParts parts) {
    TaskScope scope;
    Ran ran;
    ExecuteRequest request = code("cell-1", "import os, pathlib, time\n"
                                            "os.chdir('" +
                                                parts.directory +
                                                "')\n"
                                                "def wait_for(name):\n"
                                                "    while not pathlib.Path(name).exists(): time.sleep(0.01)\n"
                                                "print('before')\n"
                                                "wait_for('go')\n"
                                                "print('after', flush=True)\n"
                                                "pathlib.Path('said').touch()\n"
                                                "wait_for('end')");
    scope.spawn(execute_for(&parts.kernel->client(), std::move(request), &ran));
    Recorder* recorder = parts.recorder;
    const std::function<bool()> has_begun = std::bind_front(has_said, recorder, "stdout", "before\n");
    co_await Recorder::until(recorder, has_begun);
    parts.relay->lets_through.reset();
    parts.relay->cut();
    co_await Server::until_logged(parts.server, "Starting buffering");
    std::ofstream(parts.directory + "/go") << "";
    co_await until_exists(&parts.relay->loop, parts.directory + "/said");
    parts.relay->lets_through.set();
    const std::function<bool()> is_connected = std::bind_front(has_said, recorder, "stderr", "was cut and made again");
    co_await Recorder::until(recorder, is_connected);
    std::ofstream(parts.directory + "/end") << "";
    co_await ran.ended.wait();
    CHECK(ran.reply->status == ExecuteStatus::ok);
    CHECK(recorder->stream_text() == "before\nafter\n");
    ExecuteRequest next = code("cell-2", "print('next')");
    const ExecuteReply reply = co_await parts.kernel->client().execute(std::move(next));
    CHECK(reply.status == ExecuteStatus::ok);
    co_await scope.join();
}

// How often it is cut: few find most faults, CELLGATE_CUTS=1000 looks for the rest.
int wanted_cuts() {
    const char* wanted = std::getenv("CELLGATE_CUTS");
    return wanted == nullptr ? 12 : std::atoi(wanted);
}

Task<void> seeded_cuts(ServerParts parts) {
    std::mt19937 seeded(20);
    std::uniform_int_distribution<std::size_t> bytes(1, 6000);
    KernelClient& client = parts.kernel->client();
    std::set<std::string> ok;
    int number = 0;
    int unknown = 0;
    while (parts.relay->cuts < wanted_cuts()) {
        if (!parts.relay->left) {
            parts.relay->left = bytes(seeded);
        }
        const std::string name = fmt::format("{}", ++number);
        ExecuteRequest request =
            code("cell-" + name, fmt::format("runs = globals().get('runs', []); runs.append({})", name));
        const ExecuteReply reply = co_await client.execute(std::move(request));
        if (reply.status == ExecuteStatus::ok) {
            ok.insert(name);
        } else {
            const bool known = reply.error->ename == "ConnectionCut" || reply.error->ename == "ReplyLost";
            CHECK(known);
            unknown += reply.error->ename == "ConnectionCut" ? 1 : 0;
        }
    }
    parts.relay->left.reset();
    ExecuteRequest last = code("last", "print(len(runs), len(set(runs)), runs == sorted(runs), {" +
                                           fmt::format("{}", fmt::join(ok, ", ")) + "} <= set(runs))");
    const ExecuteReply reply = co_await client.execute(std::move(last));
    CHECK(reply.status == ExecuteStatus::ok);
    const std::string said = parts.recorder->stream_text();
    const std::string counts = said.substr(0, said.find(" True True\n"));
    REQUIRE_MESSAGE(counts.size() < said.size(), said);
    const std::size_t blank = counts.find(' ');
    CHECK(counts.substr(0, blank) == counts.substr(blank + 1)); // none ran twice
    MESSAGE(parts.relay->cuts, " cuts, ", number, " cells, ", ok.size(), " ok, ", unknown,
            " of unknown fate, ran: ", counts);
}

} // namespace

TEST_CASE("no code runs twice and none waits for ever, wherever the connection is cut") {
    run_on_server(seeded_cuts);
}

TEST_CASE("what a kernel does while its connection is cut arrives, and the cut is said") {
    run_on_server(cut_while_running);
}

TEST_CASE("a kernel on a server runs code, in the binary protocol") {
    run_on_server(ordinary);
}

TEST_CASE("a kernel on a server runs code, in JSON") {
    run_on_server(ordinary, {"--ServerApp.kernel_ws_protocol="});
}
