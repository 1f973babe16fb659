// A kernel on a Jupyter server of the test's own.

#include "async/process.hpp"
#include "async/tcp_listener.hpp"
#include "base/sync.hpp"
#include "jupyter/server_kernel.hpp"
#include "support.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

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
        draining.spawn(drain(process.get()));
    }
    static Task<void> drain(async::Process* process) {
        std::string bytes;
        do {
            bytes = co_await process->stdio().read();
        } while (!bytes.empty());
    }
    Task<void> end() {
        co_await process->stop(Duration::zero());
        co_await draining.join();
    }
    std::unique_ptr<async::Process> process;
    std::string url;
    TaskScope draining;
};

using Scene = Task<void> (*)(Kernel* kernel, Recorder* recorder);

Task<void> play_with_kernel(async::Loop* loop, ServerAddress address, Scene scene) {
    Recorder recorder;
    std::unique_ptr<Kernel> kernel =
        co_await start_server_kernel(*loop, std::move(address), "python3", recorder, loop->clock().now() + limit);
    co_await finally(scene(kernel.get(), &recorder), kernel->stop(Duration::zero()));
}

Task<void> play_on_server(async::Loop* loop, std::vector<std::string> arguments, Scene scene) {
    const TempDirectory directory;
    Server server(*loop, directory.path.string(), arguments);
    co_await server.listen();
    ServerAddress address{server.url, "the-token"};
    co_await finally(play_with_kernel(loop, std::move(address), scene), server.end());
}

void run_on_server(Scene scene, std::vector<std::string> arguments = {}) {
    async::Loop loop;
    loop.run(play_on_server(&loop, std::move(arguments), scene));
}

Task<void> ordinary(Kernel* kernel, Recorder* recorder) {
    CHECK(kernel->info().language == "python");
    CHECK_FALSE(kernel->pid());
    ExecuteRequest request = code("cell-1", "print('one'); 1 + 1");
    const ExecuteReply reply = co_await kernel->client().execute(std::move(request));
    CHECK(reply.status == ExecuteStatus::ok);
    CHECK(recorder->stream_text() == "one\n");
    ExecuteRequest wrong = code("cell-2", "1/0");
    const ExecuteReply error = co_await kernel->client().execute(std::move(wrong));
    CHECK(error.status == ExecuteStatus::error);
    CHECK(error.error->ename == "ZeroDivisionError");
}

} // namespace

TEST_CASE("a kernel on a server runs code, in the binary protocol") {
    run_on_server(ordinary);
}

TEST_CASE("a kernel on a server runs code, in JSON") {
    run_on_server(ordinary, {"--ServerApp.kernel_ws_protocol="});
}
