#include "async/stream.hpp"
#include "helpers.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::async;

namespace {

Task<void> serve(UnixListener* listener, int connections) {
    for (int i = 0; i < connections; ++i) {
        const std::unique_ptr<ByteStream> stream = co_await listener->accept();
        const std::string request = co_await stream->read();
        stream->write("got " + request);
    }
}

Task<void> ask(Loop* loop, std::string path, int id, int* answered) {
    const std::unique_ptr<ByteStream> stream = co_await connect_unix(*loop, std::move(path));
    const std::string request = std::to_string(id);
    stream->write(request);
    const std::string answer = co_await read_all(stream.get());
    CHECK(answer == "got " + request);
    ++*answered;
}

Task<void> many_connections(Loop* loop, std::string path) {
    UnixListener listener(*loop, path);
    struct stat status{};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0600);
    constexpr int connections = 300;
    int answered = 0;
    TaskScope scope;
    for (int i = 0; i < connections; ++i) {
        scope.spawn(ask(loop, path, i, &answered));
    }
    scope.spawn(serve(&listener, connections));
    co_await scope.join();
    CHECK(answered == connections);
    listener.close();
    CHECK(::stat(path.c_str(), &status) != 0);
}

Task<void> connect_and_count(Loop* loop, std::string path, int* connected) {
    co_await connect_unix(*loop, std::move(path));
    ++*connected;
}

Task<void> connect_to_a_full_backlog(Loop* loop, std::string path, int listener) {
    constexpr int connections = 4;
    int connected = 0;
    TaskScope scope;
    for (int i = 0; i < connections; ++i) {
        scope.spawn(connect_and_count(loop, path, &connected));
    }
    CHECK(connected < connections);
    for (int i = 0; i < connections; ++i) {
        while (connected <= i) {
            co_await loop->yield();
        }
        ::close(::accept(listener, nullptr, nullptr));
    }
    co_await scope.join();
    CHECK(connected == connections);
}

Task<void> accept_nothing(UnixListener* listener, bool* ended) {
    const std::unique_ptr<ByteStream> stream = co_await listener->accept();
    CHECK(stream == nullptr);
    *ended = true;
}

Task<void> close_while_accepting(Loop* loop, std::string path) {
    UnixListener listener(*loop, path);
    TaskScope scope;
    bool ended = false;
    scope.spawn(accept_nothing(&listener, &ended));
    co_await loop->yield();
    CHECK_FALSE(ended);
    listener.close();
    co_await scope.join();
    CHECK(ended);
    co_await accept_nothing(&listener, &ended);
}

Task<void> expect_refusal(Loop* loop, std::string path, std::string* message) {
    try {
        co_await connect_unix(*loop, path);
    } catch (const Error& error) {
        *message = error.message;
    }
}

std::string refusal(std::string path) {
    Loop loop;
    std::string message;
    loop.run(expect_refusal(&loop, std::move(path), &message));
    return message;
}

Task<void> answer_at_the_end(UnixListener* listener) {
    const std::unique_ptr<ByteStream> stream = co_await listener->accept();
    const std::string request = co_await read_all(stream.get());
    stream->write("got " + request);
}

Task<void> ask_and_say_no_more(Loop* loop, std::string path) {
    UnixListener listener(*loop, path);
    TaskScope tasks;
    tasks.spawn(answer_at_the_end(&listener));
    const std::unique_ptr<UnixStream> stream = co_await connect_unix(*loop, std::move(path));
    CHECK(stream->listener() == ::getpid());
    const std::string request(3'000'000, 'x'); // more than the socket holds
    stream->write(request);
    stream->close_output();
    const std::string answer = co_await read_all(stream.get());
    CHECK(answer.size() == request.size() + 4);
    co_await tasks.join();
}

} // namespace

TEST_CASE("who connects knows who listens, and still reads after the end of what it says") {
    const TempFolder directory;
    Loop loop;
    loop.run(ask_and_say_no_more(&loop, directory.at("socket")));
}

TEST_CASE("a listening socket is its owner's alone, serves many, and is removed when it closes") {
    const TempFolder directory;
    Loop loop;
    loop.run(many_connections(&loop, directory.at("socket")));
}

TEST_CASE("who connects while the listener's backlog is full waits for a place") {
    const TempFolder directory;
    const std::string path = directory.at("socket");
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener, 0) == 0);
    Loop loop;
    loop.run(connect_to_a_full_backlog(&loop, path, listener));
    ::close(listener);
}

TEST_CASE("closing a listener ends the accept that waits and every later one") {
    const TempFolder directory;
    Loop loop;
    loop.run(close_while_accepting(&loop, directory.at("socket")));
}

TEST_CASE("a connection that cannot be made is an error that says why") {
    const TempFolder directory;
    std::ofstream(directory.at("file")) << "not a socket";
    CHECK(refusal(directory.at("missing")).ends_with("No such file or directory"));
    CHECK(refusal(directory.at("file")).ends_with("Connection refused"));
}

TEST_CASE("a socket path that the system would cut is refused") {
    const TempFolder directory;
    const std::string base = directory.at("");
    const std::string fits = base + std::string(107 - base.size(), 'x');
    Loop loop;
    {
        const UnixListener listener(loop, fits);
    }
    CHECK_THROWS_AS(UnixListener(loop, fits + "x"), Error);
    CHECK(refusal(fits + "x").find("found 108 bytes") != std::string::npos);
    CHECK(refusal("").find("found 0 bytes") != std::string::npos);
}

TEST_CASE("two listeners on one path are refused") {
    const TempFolder directory;
    Loop loop;
    const UnixListener first(loop, directory.at("socket"));
    CHECK_THROWS_AS(UnixListener(loop, directory.at("socket")), Error);
}
