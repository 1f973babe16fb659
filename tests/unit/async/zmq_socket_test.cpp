#include "async/zmq_socket.hpp"
#include "helpers.hpp"

#include <doctest/doctest.h>
#include <zmq.h>

#include <thread>

using namespace cellgate;
using namespace cellgate::async;

namespace {

constexpr int many = 10'000;

Task<void> echo(ZmqSocket* router, int count) {
    for (int i = 0; i < count; ++i) {
        ZmqMessage message = co_await router->receive();
        router->send(std::move(message));
    }
}

// Sends one, two or three at a time, right after one another or a turn apart, and waits for all answers: whoever waits
// for an edge that has passed stops here for ever.
Task<void> ask_in_bursts(Loop* loop, ZmqSocket* dealer, int count) {
    int sent = 0;
    int received = 0;
    while (received < count) {
        const int burst = std::min(1 + sent % 3, count - sent);
        for (int i = 0; i < burst; ++i) {
            ZmqMessage message{"", std::to_string(sent++), std::string(static_cast<std::size_t>(sent % 100), 'x')};
            dealer->send(std::move(message));
            if (sent % 7 == 0) {
                co_await loop->yield();
            }
        }
        while (received < sent) {
            const ZmqMessage answer = co_await dealer->receive();
            REQUIRE(answer.size() == 3);
            REQUIRE(answer[1] == std::to_string(received));
            ++received;
        }
    }
}

Task<void> mixed_sends(Loop* loop, std::string endpoint) {
    ZmqContext context(*loop);
    ZmqSocket dealer(context, ZmqType::dealer, "us");
    dealer.connect(endpoint); // before there is anybody
    ZmqSocket router(context, ZmqType::router);
    router.bind(endpoint);
    TaskScope scope;
    scope.spawn(echo(&router, many));
    scope.spawn(ask_in_bursts(loop, &dealer, many));
    co_await scope.join();
}

// A kernel's side: on a thread and a context of its own, answering while we send. An empty message ends it.
void echo_elsewhere(const std::string& endpoint) {
    void* context = zmq_ctx_new();
    void* router = zmq_socket(context, ZMQ_ROUTER);
    zmq_bind(router, endpoint.c_str());
    for (bool ended = false; !ended;) {
        ZmqMessage message;
        bool more = true;
        while (more) {
            zmq_msg_t frame;
            zmq_msg_init(&frame);
            zmq_msg_recv(&frame, router, 0);
            message.emplace_back(static_cast<const char*>(zmq_msg_data(&frame)), zmq_msg_size(&frame));
            more = zmq_msg_more(&frame) != 0;
            zmq_msg_close(&frame);
        }
        ended = message[1].empty();
        zmq_send(router, message[0].data(), message[0].size(), ZMQ_SNDMORE);
        zmq_send(router, message[1].data(), message[1].size(), 0);
    }
    zmq_close(router);
    zmq_ctx_term(context);
}

// The second send comes when the answer to the first may just have arrived, and so consumes what ZMQ_FD would tell.
Task<void> send_into_answers(Loop* loop, std::string endpoint) {
    ZmqContext context(*loop);
    ZmqSocket dealer(context, ZmqType::dealer);
    dealer.connect(endpoint);
    for (int i = 0; i < 1000; ++i) {
        ZmqMessage first{"first"};
        dealer.send(std::move(first));
        const Instant until = loop->clock().now() + std::chrono::microseconds(i % 10 * 50);
        while (loop->clock().now() < until) {
        }
        ZmqMessage second{i < 999 ? "second" : ""};
        dealer.send(std::move(second));
        co_await dealer.receive();
        co_await dealer.receive();
    }
}

Task<void> flood(Loop* loop, std::string endpoint, int count) {
    ZmqContext context(*loop);
    ZmqSocket sender(context, ZmqType::dealer);
    ZmqSocket receiver(context, ZmqType::dealer);
    receiver.bind(endpoint);
    sender.connect(endpoint);
    for (int i = 0; i < count; ++i) {
        ZmqMessage message{std::to_string(i)};
        sender.send(std::move(message));
    }
    for (int i = 0; i < 1000; ++i) {
        co_await loop->yield();
    }
    for (int i = 0; i < count; ++i) {
        const ZmqMessage message = co_await receiver.receive();
        REQUIRE(message.size() == 1);
        REQUIRE(message[0] == std::to_string(i));
    }
}

Task<void> send_too_much(Loop* loop, std::string endpoint) {
    ZmqContext context(*loop);
    ZmqSocket sender(context, ZmqType::dealer);
    constexpr std::int64_t most_bytes = 100'000;
    ZmqSocket receiver(context, ZmqType::dealer, {}, most_bytes);
    receiver.bind(endpoint);
    sender.connect(endpoint);
    ZmqMessage many_frames(5000, "x");
    ZmqMessage many_bytes(11, std::string(10'000, 'x'));
    ZmqMessage as_much_as_may_be(10, std::string(10'000, 'x'));
    sender.send(std::move(many_frames));
    sender.send(std::move(many_bytes));
    sender.send(std::move(as_much_as_may_be));
    const ZmqMessage first = co_await receiver.receive();
    CHECK(first.empty());
    const ZmqMessage second = co_await receiver.receive();
    CHECK(second.empty());
    const ZmqMessage third = co_await receiver.receive();
    CHECK(third.size() == 10);
}

Task<void> publish(Loop* loop, ZmqSocket* publisher, const bool* done) {
    while (!*done) {
        ZmqMessage message{"topic", "nudge"};
        publisher->send(std::move(message));
        co_await loop->yield();
    }
}

Task<void> subscribe(Loop* loop, std::string endpoint) {
    ZmqContext context(*loop);
    ZmqSocket publisher(context, ZmqType::pub);
    ZmqSocket subscriber(context, ZmqType::sub);
    subscriber.connect(endpoint);
    publisher.bind(endpoint);
    TaskScope scope;
    bool joined = false;
    scope.spawn(publish(loop, &publisher, &joined));
    co_await subscriber.receive();
    joined = true;
    co_await scope.join();
    for (int i = 0; i < many; ++i) {
        ZmqMessage message{"", std::to_string(i), "", "x"};
        publisher.send(std::move(message));
    }
    for (int i = 0; i < many;) {
        const ZmqMessage message = co_await subscriber.receive();
        if (message.size() == 4) {
            REQUIRE(message[1] == std::to_string(i));
            ++i;
        }
    }
}

Task<void> ask_strictly(Loop* loop, std::string endpoint) {
    ZmqContext context(*loop);
    ZmqSocket replier(context, ZmqType::rep);
    ZmqSocket asker(context, ZmqType::req);
    replier.bind(endpoint);
    asker.connect(endpoint);
    for (int i = 0; i < 100; ++i) {
        ZmqMessage request{"ping"};
        asker.send(std::move(request));
        ZmqMessage heard = co_await replier.receive();
        replier.send(std::move(heard));
        const ZmqMessage answer = co_await asker.receive();
        REQUIRE(answer == ZmqMessage{"ping"});
    }
}

Task<void> big_message(Loop* loop, std::string endpoint) {
    ZmqContext context(*loop);
    ZmqSocket left(context, ZmqType::dealer);
    ZmqSocket right(context, ZmqType::dealer);
    left.bind(endpoint);
    right.connect(endpoint);
    // Larger than the queue may grow: one message always fits.
    const std::string large(80 << 20, 'x');
    ZmqMessage message{"head", large, "", "tail"};
    left.send(message);
    ZmqMessage small{"after"};
    left.send(std::move(small));
    const ZmqMessage received = co_await right.receive();
    CHECK(received == message);
    const ZmqMessage after = co_await right.receive();
    CHECK(after == ZmqMessage{"after"});
}

Task<void> oversized_message(Loop* loop, std::string endpoint) {
    ZmqContext context(*loop);
    ZmqSocket limited(context, ZmqType::router, "", 1000);
    limited.bind(endpoint);
    ZmqSocket hostile(context, ZmqType::dealer, "hostile");
    hostile.connect(endpoint);
    ZmqMessage oversized{std::string(1001, 'x')};
    hostile.send(std::move(oversized));
    ZmqSocket honest(context, ZmqType::dealer, "honest");
    honest.connect(endpoint);
    ZmqMessage small{std::string(990, 'x')}; // and the name of who sent it
    honest.send(std::move(small));
    const ZmqMessage received = co_await limited.receive();
    CHECK(received[0] == "honest");
}

Task<void> expect_closed(ZmqSocket* socket, int* closed) {
    try {
        co_await socket->receive();
    } catch (const Cancelled&) {
        CHECK(false);
    } catch (const Error&) {
        ++*closed;
    }
}

Task<void> close_under_a_receiver(Loop* loop, std::string endpoint) {
    ZmqContext context(*loop);
    ZmqSocket socket(context, ZmqType::dealer);
    socket.bind(endpoint);
    int closed = 0;
    TaskScope scope;
    scope.spawn(expect_closed(&socket, &closed));
    CHECK(closed == 0);
    socket.close();
    co_await scope.join();
    co_await expect_closed(&socket, &closed);
    CHECK(closed == 2);
    ZmqMessage message{"dropped"};
    socket.send(std::move(message));
    CHECK_THROWS_AS(socket.connect(endpoint), Error);
}

Task<void> refuse_endpoints(Loop* loop) {
    ZmqContext context(*loop);
    ZmqSocket socket(context, ZmqType::dealer);
    CHECK_THROWS_AS(socket.connect("nonsense"), Error);
    CHECK_THROWS_AS(socket.connect("ipc:///" + std::string(200, 'x')), Error);
    CHECK_THROWS_AS(socket.bind("ipc:///no/such/directory/socket"), Error);
    co_return;
}

template <class Run>
void with_endpoint(Run run) {
    const TemporaryDirectory directory;
    Loop loop;
    loop.run(run(&loop, "ipc://" + directory.path("socket")));
}

} // namespace

TEST_CASE("ten thousand requests in mixed bursts are all answered, without a stall") {
    with_endpoint(mixed_sends);
}

TEST_CASE("a send that falls together with an answer does not hide the answer") {
    const TemporaryDirectory directory;
    const std::string endpoint = "ipc://" + directory.path("socket");
    std::thread elsewhere(echo_elsewhere, endpoint);
    Loop loop;
    loop.run(send_into_answers(&loop, endpoint));
    elsewhere.join();
}

TEST_CASE("a flood that nobody reads for a while arrives whole and in order") {
    with_endpoint([](Loop* loop, std::string endpoint) { return flood(loop, std::move(endpoint), 3 * many); });
}

TEST_CASE("a subscriber that has joined gets everything in order") {
    with_endpoint(subscribe);
}

TEST_CASE("requests and replies alternate") {
    with_endpoint(ask_strictly);
}

TEST_CASE("a message of 80 MB arrives in its frames, and what follows it too") {
    with_endpoint(big_message);
}

TEST_CASE("a message over the limit is refused, and does not disturb other peers") {
    with_endpoint(oversized_message);
}

TEST_CASE("closing a socket ends the receive that waits and every later one with an error") {
    with_endpoint(close_under_a_receiver);
}

TEST_CASE("an endpoint that cannot be is an error") {
    Loop loop;
    loop.run(refuse_endpoints(&loop));
}

TEST_CASE("a message of too many frames or bytes comes without them, and the next one whole") {
    with_endpoint(send_too_much);
}
