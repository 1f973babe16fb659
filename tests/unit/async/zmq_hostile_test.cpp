// Peers that do not keep to the protocol, or use it against us, on a raw socket.
#include "async/stream.hpp"
#include "async/zmq_socket.hpp"
#include "helpers.hpp"
#include "temp_folder.hpp"
#include "zmtp.hpp"
#include "zmtp_bytes.hpp"

#include <doctest/doctest.h>
#include <zmq.h>

#include <malloc.h>
#include <memory>

// A sanitizer keeps what was freed.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CELLGATE_SANITIZED
#include <sanitizer/allocator_interface.h>
#endif
#endif

using namespace cellgate;
using namespace cellgate::async;

namespace {

// Of the heap, libzmq's as well. What is resident may shrink meanwhile, as the sanitizer gives back what is free.
std::size_t allocated_bytes() {
#ifdef CELLGATE_SANITIZED
    return __sanitizer_get_current_allocated_bytes();
#else
    const struct mallinfo2 heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
#endif
}

constexpr std::size_t mega = std::size_t{1} << 20;
const std::string opening = greeting() + ready("ROUTER");

struct Stage {
    Stage(Loop& loop_, const std::string& path)
        : loop(loop_), listener(loop_, path), socket(loop_, ZmqType::dealer, "us", mega) {
        socket.connect("ipc://" + path);
    }

    Loop& loop;
    UnixListener listener;
    ZmqSocket socket;
};

std::string repeated(const std::string& bytes, std::size_t times) {
    std::string result;
    result.reserve(bytes.size() * times);
    for (std::size_t i = 0; i < times; ++i) {
        result += bytes;
    }
    return result;
}

// The next connection is a good one, and works.
Task<void> check_works(Stage* stage) {
    const std::unique_ptr<ByteStream> peer = co_await stage->listener.accept();
    peer->write(opening + frame(0, "works"));
    const ZmqMessage message = co_await stage->socket.receive();
    CHECK(message == ZmqMessage{"works"});
}

Task<void> one_by_one(Stage* stage) {
    const std::unique_ptr<ByteStream> peer = co_await stage->listener.accept();
    for (const char byte : opening + frame(1, "one") + long_head(2, 3) + "two") {
        peer->write(std::string(1, byte));
        co_await stage->loop.yield();
    }
    const ZmqMessage message = co_await stage->socket.receive();
    CHECK(message == ZmqMessage{"one", "two"});
}

Task<void> end_at_every_byte(Stage* stage) {
    const std::string bytes = opening + frame(4, "\5OTHER") + frame(1, "cut off") + long_head(2, 3) + "end";
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const std::unique_ptr<ByteStream> peer = co_await stage->listener.accept();
        peer->write(bytes.substr(0, size));
    }
    co_await check_works(stage);
}

Task<void> break_the_protocol(Stage* stage) {
    for (const std::string& bytes :
         {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"), greeting(2), greeting(3, 1, "CURVE"),
          greeting() + frame(0, "early"), greeting() + ready("PUB"), greeting() + long_head(6, 4097),
          opening + long_head(2, std::uint64_t{1} << 63), opening + long_head(3, mega + 1),
          opening + frame(4, "\5ERROR\3no"), opening + frame(0x40, "flags")}) {
        const std::unique_ptr<ByteStream> peer = co_await stage->listener.accept();
        peer->write(bytes);
        co_await read_all(peer.get()); // to its end
    }
    co_await check_works(stage);
}

Task<void> half_a_greeting(Stage* stage) {
    std::unique_ptr<ByteStream> peer = co_await stage->listener.accept();
    peer->write(greeting().substr(0, 30));
    ZmqMessage message{"waits"};
    stage->socket.send(std::move(message));
    for (int i = 0; i < 100; ++i) {
        co_await stage->loop.yield();
    }
    CHECK(peer->write_queue_size() == 0);
    peer.reset();
    peer = co_await stage->listener.accept();
    peer->write(opening);
    std::string heard;
    while (!heard.ends_with(frame(0, "waits"))) {
        heard += co_await peer->read();
    }
    CHECK(heard == zmtp_greeting() +
                       frame(4, "\5READY" + property("Socket-Type", "DEALER") + property("Identity", "us")) +
                       frame(0, "waits"));
}

// That a peer sends so much costs us next to nothing, and the message after it arrives.
Task<void> costs_nothing(Stage* stage, std::string piece, std::size_t pieces) {
    const std::unique_ptr<ByteStream> peer = co_await stage->listener.accept();
    peer->write(opening);
    [[maybe_unused]] const std::size_t before = resident_bytes();
    for (std::size_t i = 0; i < pieces; ++i) {
        peer->write(piece);
        co_await peer->drained(0);
    }
    [[maybe_unused]] const std::size_t after = resident_bytes();
    peer->write(frame(0, "the end") + frame(0, "after"));
    ZmqMessage message;
    while (message != ZmqMessage{"after"}) {
        message = co_await stage->socket.receive();
        CHECK((message.empty() || message.size() == 1));
    }
#ifndef CELLGATE_SANITIZED
    CHECK(after < before + 8 * mega);
#endif
}

Task<void> endless_message(Stage* stage) {
    const std::string part = long_head(3, 65'536) + std::string(65'536, 'x');
    co_await costs_nothing(stage, part, 1024);
}

Task<void> endless_empty_frames(Stage* stage) {
    co_await costs_nothing(stage, repeated(frame(1, ""), 32'768), 64);
}

Task<void> endless_commands(Stage* stage) {
    co_await costs_nothing(stage, long_head(6, 4000) + "\5OTHER" + std::string(3994, 'x'), 4000);
}

// The control: libzmq in the same place, told of the same limits.
Task<void> endless_message_to_libzmq(Loop* loop, std::string path) {
    UnixListener listener(*loop, path);
    void* context = zmq_ctx_new();
    void* dealer = zmq_socket(context, ZMQ_DEALER);
    const std::int64_t max_bytes = mega;
    const int max_messages = 4;
    const int none = 0;
    zmq_setsockopt(dealer, ZMQ_MAXMSGSIZE, &max_bytes, sizeof max_bytes);
    zmq_setsockopt(dealer, ZMQ_RCVHWM, &max_messages, sizeof max_messages);
    zmq_setsockopt(dealer, ZMQ_LINGER, &none, sizeof none);
    zmq_connect(dealer, ("ipc://" + path).c_str());
    {
        const std::unique_ptr<ByteStream> peer = co_await listener.accept();
        peer->write(opening);
        std::string heard;
        while (heard.find("READY") == std::string::npos) { // before that, it takes no message
            heard += co_await peer->read();
        }
        const std::size_t before = allocated_bytes();
        const std::string part = long_head(3, 65'536) + std::string(65'536, 'x');
        for (int i = 0; i < 1024; ++i) {
            peer->write(part);
            co_await peer->drained(0);
        }
        CHECK(allocated_bytes() > before + 48 * mega);
    }
    zmq_close(dealer);
    zmq_ctx_term(context);
}

Task<void> unread_pongs(Stage* stage) {
    const std::unique_ptr<ByteStream> peer = co_await stage->listener.accept();
    constexpr std::size_t pings = 100'000;
    peer->write(opening + repeated(frame(4, std::string("\4PING\0\0", 7)), pings) + frame(0, "after"));
    const ZmqMessage message = co_await stage->socket.receive();
    CHECK(message == ZmqMessage{"after"});
    ZmqMessage last{"last"};
    stage->socket.send(std::move(last));
    std::string heard;
    while (!heard.ends_with(frame(0, "last"))) {
        heard += co_await peer->read();
    }
    const std::size_t pong = frame(4, "\4PONG").size();
    CHECK(heard.find(frame(4, "\4PONG")) != std::string::npos);
    CHECK(heard.size() < pings * pong / 2); // what the system holds for a reader, and no more
}

Task<void> count_turns(Loop* loop, const bool* done, int* turns) {
    while (!*done) {
        co_await loop->yield();
        ++*turns;
    }
}

Task<void> many_small_frames(Stage* stage) {
    const std::unique_ptr<ByteStream> peer = co_await stage->listener.accept();
    TaskScope scope;
    bool done = false;
    int turns = 0;
    scope.spawn(count_turns(&stage->loop, &done, &turns));
    peer->write(opening + repeated(frame(1, ""), 400'000) + frame(0, ""));
    co_await stage->socket.receive();
    done = true;
    co_await scope.join();
    CHECK(turns > 100);
}

// A sender keeps what is not taken: all but a megabyte, with what frames cost beside their bytes, and what the system
// holds.
Task<void> leave(Stage* stage, std::string message, std::size_t count, std::size_t frames) {
    stage->socket.leave_with_sender(mega);
    const std::unique_ptr<ByteStream> peer = co_await stage->listener.accept();
    peer->write(opening);
    const std::string all = repeated(message, count);
    peer->write(all);
    for (int i = 0; i < 1000; ++i) {
        co_await stage->loop.yield();
    }
    CHECK(all.size() - peer->write_queue_size() < 2 * mega);
    for (std::size_t i = 0; i < count; ++i) {
        const ZmqMessage received = co_await stage->socket.receive();
        REQUIRE(received.size() == frames);
    }
    CHECK(peer->write_queue_size() == 0);
}

Task<void> leave_large_messages(Stage* stage) {
    return leave(stage, long_head(2, 65'536) + std::string(65'536, 'x'), 200, 1);
}

Task<void> leave_small_frames(Stage* stage) {
    return leave(stage, repeated(frame(1, ""), 3999) + frame(0, ""), 1000, 4000);
}

Task<void> play(Stage* stage, Task<void> (*act)(Stage*)) {
    co_await act(stage);
    stage->socket.close();
    stage->listener.close();
}

void on_stage(Task<void> (*act)(Stage*)) {
    const TempFolder directory;
    Loop loop;
    Stage stage(loop, directory.at("socket"));
    loop.run(play(&stage, act));
}

} // namespace

TEST_CASE("a handshake and a message that come byte by byte arrive") {
    on_stage(one_by_one);
}

TEST_CASE("a peer may go at every byte: nothing arrives that was not whole, and the next connection works") {
    on_stage(end_at_every_byte);
}

TEST_CASE("a peer that breaks the protocol loses its connection, and the next one works") {
    on_stage(break_the_protocol);
}

TEST_CASE("a peer that stops amid its greeting blocks nothing, and queued messages wait for the next one") {
    on_stage(half_a_greeting);
}

TEST_CASE("a message that never ends costs no memory") {
    on_stage(endless_message);
    on_stage(endless_empty_frames);
}

TEST_CASE("libzmq keeps all of a message that never ends") {
    const TempFolder directory;
    Loop loop;
    loop.run(endless_message_to_libzmq(&loop, directory.at("socket")));
}

TEST_CASE("commands without end cost no memory") {
    on_stage(endless_commands);
}

TEST_CASE("a peer that asks for PONGs and reads none goes without") {
    on_stage(unread_pongs);
}

TEST_CASE("others get their turn while a peer sends a great many small frames") {
    on_stage(many_small_frames);
}

TEST_CASE("bytes beyond the limit stay with the sender, and all of them arrive in the end") {
    on_stage(leave_large_messages);
    on_stage(leave_small_frames);
}
