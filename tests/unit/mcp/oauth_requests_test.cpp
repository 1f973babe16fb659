// Whom a login sends requests to, with a server on this machine that answers everything.

#include "async/tcp_listener.hpp"
#include "base/sync.hpp"
#include "mcp/oauth_requests.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>

using namespace cellgate;
using namespace cellgate::mcp;

namespace {

struct Answering {
    explicit Answering(async::Loop& loop) : listener(loop, 0) { tasks.spawn(serve()); }

    Task<void> serve() {
        std::unique_ptr<async::SocketStream> stream = co_await listener.accept();
        while (stream) {
            ++connections;
            co_await stream->read();
            stream->write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
            stream->close();
            stream = co_await listener.accept();
        }
    }
    Task<void> end() {
        listener.close();
        co_await tasks.join();
    }

    async::TcpListener listener;
    int connections = 0;
    TaskScope tasks;
};

Task<std::string> ask(async::Loop* loop, std::string server, std::string url) {
    OAuthRequests requests(*loop, loop->clock(), std::move(server));
    try {
        const OAuthAnswer answer = co_await requests.get(std::move(url));
        co_return fmt::format("{} {}", answer.status, answer.body);
    } catch (const Error& error) {
        co_return error.message;
    }
}

void with_server(const std::function<Task<void>(async::Loop*, Answering*)>& test) {
    async::Loop loop;
    Answering server(loop);
    loop.run(finally(test(&loop, &server), server.end()));
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a server of the public network has no request sent to this machine or its neighbours") {
    with_server([](async::Loop* loop, Answering* server) -> Task<void> {
        const std::string port = std::to_string(server->listener.port());
        const std::string public_server = "https://1.1.1.1/mcp";
        for (const char* host : {"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1"}) {
            std::string url = fmt::format("http://{}:{}/x", host, port);
            const std::string found = co_await ask(loop, public_server, std::move(url));
            CAPTURE(found);
            CHECK(has(found, "the login would ask"));
        }
        CHECK(server->connections == 0);
    });
}

TEST_CASE("one on this machine may have its login here") { // the control: these requests arrive
    with_server([](async::Loop* loop, Answering* server) -> Task<void> {
        const std::string port = std::to_string(server->listener.port());
        for (const char* host : {"127.0.0.1", "localhost"}) {
            std::string url = fmt::format("http://{}:{}/x", host, port);
            std::string own = "http://127.0.0.1/mcp";
            const std::string found = co_await ask(loop, std::move(own), std::move(url));
            CHECK(found == "200 {}");
        }
        CHECK(server->connections == 2);
    });
}

TEST_CASE("a cloud's metadata is asked for no server") {
    with_server([](async::Loop* loop, Answering*) -> Task<void> {
        for (const char* own :
             {"https://1.1.1.1/mcp", "http://127.0.0.1/mcp", "http://10.0.0.1/mcp", "http://169.254.169.254/mcp"}) {
            std::string server = own;
            std::string url = "http://169.254.169.254/latest/meta-data";
            const std::string found = co_await ask(loop, std::move(server), std::move(url));
            CAPTURE(own);
            CHECK(has(found, "a cloud's metadata"));
        }
    });
}
