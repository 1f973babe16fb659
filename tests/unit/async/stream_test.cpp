#include "async/stream.hpp"
#include "base/log.hpp"
#include "helpers.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <fstream>
#include <pty.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::async;

namespace {

struct Pair {
    std::unique_ptr<ByteStream> left;
    std::unique_ptr<ByteStream> right;
};

Pair socket_pair(Loop& loop) {
    std::array<int, 2> fds{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
    return {open_stream(loop, fds[0], fds[0]), open_stream(loop, fds[1], fds[1])};
}

Task<void> keep_all(ByteStream* stream, std::string* all) {
    *all = co_await read_all(stream);
}

Task<void> keep_one(ByteStream* stream, std::string* bytes, bool* ended) {
    *bytes = co_await stream->read();
    *ended = true;
}

constexpr std::size_t big = 8 << 20;

Task<void> flush_on_close(Loop* loop) {
    Pair pair = socket_pair(*loop);
    pair.left->write(std::string(big, 'x'));
    pair.left->write("end");
    CHECK(pair.left->write_queue_size() > 0);
    pair.left->close();
    pair.left.reset();
    const std::string all = co_await read_all(pair.right.get());
    CHECK(all.size() == big + 3);
    CHECK(all.ends_with("xend"));
}

Task<void> close_with_a_deaf_peer(Loop* loop, int deaf) {
    const std::unique_ptr<ByteStream> stream = open_stream(*loop, deaf, deaf);
    stream->write(std::string(big, 'x'));
    CHECK(stream->write_queue_size() > 0);
    co_return;
}

Task<void> press_back(Loop* loop) {
    Pair pair = socket_pair(*loop);
    pair.left->write(std::string(big, 'x'));
    std::string all = co_await pair.right->read();
    for (int i = 0; i < 1000; ++i) {
        co_await loop->yield();
    }
    // What is not read stays where it is, but for one MiB and what the system holds.
    CHECK(pair.left->write_queue_size() > big / 2);
    TaskScope scope;
    std::string rest;
    scope.spawn(keep_all(pair.right.get(), &rest));
    co_await pair.left->drained(big / 4);
    CHECK(pair.left->write_queue_size() <= big / 4);
    co_await pair.left->drained(0);
    pair.left->close();
    co_await scope.join();
    CHECK(all.size() + rest.size() == big);
}

Task<void> write_in_one_turn(Loop* loop) {
    std::array<int, 2> fds{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
    const std::unique_ptr<ByteStream> writer = open_stream(*loop, fds[0], fds[0]);
    const auto next = [&] {
        std::string bytes(1000, '\0');
        bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(::recv(fds[1], bytes.data(), 1000, MSG_DONTWAIT), 0)));
        return bytes;
    };
    writer->write("one ");
    writer->write("two");
    CHECK(writer->write_queue_size() == 7);
    CHECK(next().empty());
    co_await writer->drained(0);
    CHECK(next() == "one two");
    writer->write("three");
    co_await loop->yield();
    co_await loop->yield();
    CHECK(next() == "three");
    writer->write("last");
    writer->close();
    CHECK(next() == "last");
    ::close(fds[1]);
}

// Small ones gather, large ones go at once and may go in parts: none may overtake another.
Task<void> write_all_sizes(Loop* loop, bool through_a_pipe) {
    std::array<int, 2> fds{};
    if (through_a_pipe) {
        REQUIRE(::pipe2(fds.data(), O_CLOEXEC) == 0);
    } else {
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
    }
    const std::unique_ptr<ByteStream> reader = open_stream(*loop, fds[0], ::open("/dev/null", O_WRONLY | O_CLOEXEC));
    const std::unique_ptr<ByteStream> writer = open_stream(*loop, ::open("/dev/null", O_RDONLY | O_CLOEXEC), fds[1]);
    TaskScope scope;
    std::string all;
    scope.spawn(keep_all(reader.get(), &all));
    std::string expected;
    constexpr std::size_t sizes[] = {10, 70'000, 1, 65'536, 65'537, 40'000, 40'000, 3'000'000, 5, 1'000'000, 7};
    char letter = 'a';
    for (const std::size_t size : sizes) {
        writer->write(std::string(size, letter));
        expected.append(size, letter++);
        if (size == 5) {
            co_await loop->yield();
        }
    }
    writer->close();
    co_await scope.join();
    reader->close();
    CHECK(all.size() == expected.size());
    CHECK((all == expected));
}

// Nothing else happens on the loop that could make up for a write that was left lying.
Task<void> write_when_the_last_has_gone(Loop* loop) {
    std::array<int, 2> fds{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
    const std::unique_ptr<ByteStream> stream = open_stream(*loop, fds[0], fds[0]);
    for (int i = 0; i < 100; ++i) {
        stream->write("x");
        co_await stream->drained(0);
    }
    stream->close();
    ::close(fds[1]);
}

Task<void> close_under_a_reader(Loop* loop) {
    Pair pair = socket_pair(*loop);
    TaskScope scope;
    std::string bytes = "unchanged";
    bool ended = false;
    scope.spawn(keep_one(pair.left.get(), &bytes, &ended));
    co_await loop->yield();
    CHECK_FALSE(ended);
    pair.left->close();
    co_await scope.join();
    CHECK(bytes.empty());
    const std::string again = co_await pair.left->read();
    CHECK(again.empty());
    pair.left->close();
    pair.left->write("dropped");
    CHECK(pair.left->write_queue_size() == 0);
    co_await pair.left->drained(0);
}

Task<void> cancel_a_reader(Loop* loop) {
    Pair pair = socket_pair(*loop);
    TaskScope scope;
    std::string bytes;
    bool ended = false;
    scope.spawn(keep_one(pair.left.get(), &bytes, &ended));
    scope.cancel();
    CHECK_FALSE(ended);
    pair.right->write("later");
    const std::string later = co_await pair.left->read();
    CHECK(later == "later");
}

Task<void> write_to_nobody(Loop* loop) {
    Pair pair = socket_pair(*loop);
    pair.right->close();
    pair.right.reset();
    for (int i = 0; i < 10; ++i) {
        pair.left->write(std::string(big, 'x'));
        co_await pair.left->drained(0);
    }
    const std::string end = co_await pair.left->read();
    CHECK(end.empty());
}

Task<void> through_files(Loop* loop, std::string directory) {
    const std::string path = directory + "/file";
    std::string text;
    for (int i = 0; i < 100'000; ++i) {
        text += std::to_string(i);
    }
    {
        const std::unique_ptr<ByteStream> out =
            open_stream(*loop, ::open("/dev/null", O_RDONLY), ::open(path.c_str(), O_WRONLY | O_CREAT, 0600));
        const std::string nothing = co_await out->read();
        CHECK(nothing.empty());
        out->write(text.substr(0, 1000));
        out->write(text.substr(1000));
        CHECK(out->write_queue_size() > 0);
        co_await out->drained(0);
        CHECK(out->write_queue_size() == 0);
        out->write("last"); // close() comes first
    }
    {
        const std::unique_ptr<ByteStream> in =
            open_stream(*loop, ::open(path.c_str(), O_RDONLY), ::open("/dev/null", O_WRONLY));
        in->write("gone");
        std::string all = co_await read_all(in.get());
        // The last word may still be on its way to the file.
        all.resize(std::min(all.size(), text.size()));
        CHECK(all == text);
    }
}

Task<void> through_a_terminal(Loop* loop, int controller, int terminal) {
    const int shared = ::dup(terminal);
    const std::unique_ptr<ByteStream> editor = open_stream(*loop, controller, controller);
    const std::unique_ptr<ByteStream> stream = open_stream(*loop, terminal, terminal);
    CHECK((::fcntl(shared, F_GETFL) & O_NONBLOCK) == 0);
    ::close(shared);
    editor->write("yes\n");
    const std::string line = co_await stream->read();
    CHECK(line == "yes\n");
    stream->write("seen");
    std::string screen;
    while (screen.find("seen") == std::string::npos) {
        screen += co_await editor->read();
    }
    stream->close();
    const std::string end = co_await read_all(editor.get());
    CHECK(end.empty());
}

Task<void> collect(Loop* loop, Command command, std::string input, std::string* output, std::string* errors) {
    const std::unique_ptr<Process> process = start_process(*loop, std::move(command));
    process->stdio().write(std::move(input));
    process->close_stdin();
    *output = co_await read_all(&process->stdio());
    co_await process->exited();
    *errors = process->stderr_tail();
}

} // namespace

TEST_CASE("closing a stream still delivers all that was written") {
    Loop loop;
    loop.run(flush_on_close(&loop));
}

TEST_CASE("a peer that takes nothing does not keep a closed stream open for ever") {
    std::array<int, 2> fds{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
    Loop loop;
    set_log_level(LogLevel::error);
    loop.run(close_with_a_deaf_peer(&loop, fds[0]));
    set_log_level(LogLevel::warning);
    ::close(fds[1]);
}

TEST_CASE("unread bytes stay with their writer") {
    Loop loop;
    loop.run(press_back(&loop));
}

TEST_CASE("what is written in one turn of the loop goes out at once, and no later than its end") {
    Loop loop;
    loop.run(write_in_one_turn(&loop));
}

TEST_CASE("what is written as soon as the last has gone goes too, though nothing else happens") {
    Loop loop;
    loop.run(write_when_the_last_has_gone(&loop));
}

TEST_CASE("what is written arrives in its order, whatever its size") {
    Loop loop;
    loop.run(write_all_sizes(&loop, false));
    loop.run(write_all_sizes(&loop, true));
}

TEST_CASE("closing a stream ends the read that waits and every later one") {
    Loop loop;
    loop.run(close_under_a_reader(&loop));
}

TEST_CASE("a read that was cancelled loses nothing") {
    Loop loop;
    loop.run(cancel_a_reader(&loop));
}

TEST_CASE("writing after the other side has gone neither fails nor waits nor keeps anything") {
    Loop loop;
    loop.run(write_to_nobody(&loop));
}

TEST_CASE("files and devices are streams too, and closing flushes") {
    const TempFolder directory;
    Loop loop;
    loop.run(through_files(&loop, directory.at("")));
    std::ifstream file(directory.at("file"));
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    CHECK(all.ends_with("99999last"));
}

TEST_CASE("a terminal is a stream, and the shell's view of it is left alone") {
    int controller = -1;
    int terminal = -1;
    REQUIRE(::openpty(&controller, &terminal, nullptr, nullptr, nullptr) == 0);
    Loop loop;
    loop.run(through_a_terminal(&loop, controller, terminal));
}

TEST_CASE("stdin and stdout as pipes, and their sharers keep blocking descriptors") {
    // The shell shares both pipes with the program under test, and looks at their flags while it runs and afterwards.
    const std::string flags = "grep -h flags /proc/self/fdinfo/0 /proc/self/fdinfo/1 >&2";
    const std::string script = std::string("{ ") + ASYNC_FIXTURE + " copy; } ; " + flags;
    const std::string input(100'000, 'x');
    std::string output;
    std::string errors;
    Loop loop;
    loop.run(collect(&loop, shell(script), input, &output, &errors));
    CHECK(output == input);
    CHECK(errors == "flags:\t00\nflags:\t01\n");
}

TEST_CASE("stdin and stdout as files and devices") {
    const TempFolder directory;
    std::ofstream(directory.at("in")) << "from a file";
    const std::string script = std::string(ASYNC_FIXTURE) + " copy < " + directory.at("in") + " > " +
                               directory.at("out") + "; cat " + directory.at("out") + "; " + ASYNC_FIXTURE +
                               " copy < /dev/null; " + ASYNC_FIXTURE + " copy < " + directory.at("in") +
                               " > /dev/null; " + ASYNC_FIXTURE + " copy <&- ";
    std::string output;
    std::string errors;
    Loop loop;
    loop.run(collect(&loop, shell(script), "", &output, &errors));
    CHECK(output == "from a file");
    CHECK(errors.empty());
}

TEST_CASE("a descriptor that is no stream is refused") {
    Loop loop;
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK_THROWS_AS(open_stream(loop, fd, fd), Error);
    CHECK_THROWS_AS(open_stream(loop, -1, -1), Error);
    ::close(fd);
}
