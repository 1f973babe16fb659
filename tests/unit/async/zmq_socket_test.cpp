#include "async/zmq_socket.hpp"
#include "helpers.hpp"
#include "temp_folder.hpp"
#include "zmq_peer.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <thread>

using namespace cellgate;
using namespace cellgate::async;

namespace {

constexpr int many = 10'000;
constexpr std::size_t max_bytes = std::size_t{512} << 20;

Task<void> echo(ZmqPeer* router, int count) {
    for (int i = 0; i < count; ++i) {
        const ZmqMessage message = co_await router->receive();
        router->send(message);
    }
}

// Sends one, two or three at a time, right after one another or a turn apart, and waits for all answers.
Task<void> ask_in_bursts(Loop* loop, ZmqSocket* dealer, int count) {
    int sent = 0;
    int received = 0;
    while (received < count) {
        const int burst = std::min(1 + sent % 3, count - sent);
        for (int i = 0; i < burst; ++i) {
            ZmqMessage message{"", std::to_string(sent++), std::string(static_cast<std::size_t>(sent % 1000), 'x')};
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
    ZmqSocket dealer(*loop, ZmqType::dealer, "us", max_bytes);
    dealer.connect(endpoint); // before there is anybody
    co_await loop->yield();
    ZmqPeer router(*loop, ZMQ_ROUTER);
    router.bind(endpoint);
    TaskScope scope;
    scope.spawn(echo(&router, many));
    scope.spawn(ask_in_bursts(loop, &dealer, many));
    co_await scope.join();
}

// A kernel's side on a thread of its own, answering while we send. An empty message ends it.
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

// The second send comes when the answer to the first may just be arriving.
Task<void> send_into_answers(Loop* loop, std::string endpoint) {
    ZmqSocket dealer(*loop, ZmqType::dealer, {}, max_bytes);
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

// A dealer of ours and a router that has heard of it.
struct Pair {
    Pair(Loop& loop_, std::string endpoint_) : loop(loop_), endpoint(std::move(endpoint_)) {}

    Task<void> open(std::size_t most = max_bytes) {
        router = std::make_unique<ZmqPeer>(loop, ZMQ_ROUTER);
        router->bind(endpoint);
        dealer = std::make_unique<ZmqSocket>(loop, ZmqType::dealer, "us", most);
        dealer->connect(endpoint);
        ZmqMessage hello{"hello"};
        dealer->send(std::move(hello));
        const ZmqMessage heard = co_await router->receive();
        REQUIRE(heard == ZmqMessage{"us", "hello"});
    }
    void answer(ZmqMessage message) {
        message.insert(message.begin(), "us");
        router->send(message);
    }

    Loop& loop;
    std::string endpoint;
    std::unique_ptr<ZmqPeer> router;
    std::unique_ptr<ZmqSocket> dealer;
};

// More than may wait, so that reading stops and goes on.
Task<void> flood(Loop* loop, std::string endpoint) {
    Pair pair(*loop, std::move(endpoint));
    co_await pair.open();
    constexpr int count = 3 * many;
    for (int i = 0; i < count; ++i) {
        pair.answer({std::to_string(i)});
    }
    for (int i = 0; i < 1000; ++i) {
        co_await loop->yield();
    }
    for (int i = 0; i < count; ++i) {
        const ZmqMessage message = co_await pair.dealer->receive();
        REQUIRE(message == ZmqMessage{std::to_string(i)});
    }
}

Task<void> send_too_much(Loop* loop, std::string endpoint) {
    Pair pair(*loop, std::move(endpoint));
    co_await pair.open(100'000);
    pair.answer(ZmqMessage(5000, "x"));
    pair.answer(ZmqMessage(11, std::string(10'000, 'x')));
    pair.answer(ZmqMessage(10, std::string(10'000, 'x')));
    const ZmqMessage first = co_await pair.dealer->receive();
    CHECK(first.empty());
    const ZmqMessage second = co_await pair.dealer->receive();
    CHECK(second.empty());
    const ZmqMessage third = co_await pair.dealer->receive();
    CHECK(third.size() == 10);
}

Task<void> answer_all(Pair* pair) {
    while (true) {
        co_await pair->router->receive();
        pair->answer({"after"});
    }
}

Task<void> ask_until(Pair* pair, const bool* done) {
    while (!*done) {
        ZmqMessage again{"again"};
        pair->dealer->send(std::move(again));
        co_await pair->loop.yield();
    }
}

Task<void> oversized_frame(Loop* loop, std::string endpoint) {
    Pair pair(*loop, std::move(endpoint));
    co_await pair.open(1000);
    pair.answer({std::string(1001, 'x')});
    // That ends the connection, and with it what may be on its way. The next one works.
    TaskScope scope;
    bool done = false;
    const std::shared_ptr<CancelState> answering = scope.spawn(answer_all(&pair));
    scope.spawn(ask_until(&pair, &done));
    const ZmqMessage heard = co_await pair.dealer->receive();
    CHECK(heard == ZmqMessage{"after"});
    done = true;
    answering->cancel();
    co_await scope.join();
}

Task<void> publish(Loop* loop, ZmqPeer* publisher, const bool* done) {
    while (!*done) {
        const ZmqMessage message{"topic", "nudge"};
        publisher->send(message);
        co_await loop->yield();
    }
}

Task<void> join(Loop* loop, ZmqPeer* publisher, ZmqSocket* subscriber) {
    TaskScope scope;
    bool joined = false;
    scope.spawn(publish(loop, publisher, &joined));
    co_await subscriber->receive();
    joined = true;
    co_await scope.join();
}

Task<void> subscribe(Loop* loop, std::string endpoint) {
    ZmqSocket subscriber(*loop, ZmqType::sub, {}, max_bytes);
    subscriber.connect(endpoint);
    // Again when another has come in the first one's place.
    for (int round = 0; round < 2; ++round) {
        ZmqPeer publisher(*loop, ZMQ_PUB);
        publisher.bind(endpoint);
        co_await join(loop, &publisher, &subscriber);
        for (int i = 0; i < many; ++i) {
            publisher.send({"", std::to_string(i), "", "x"});
        }
        for (int i = 0; i < many;) {
            const ZmqMessage message = co_await subscriber.receive();
            if (message.size() == 4) {
                REQUIRE(message[1] == std::to_string(i));
                ++i;
            }
        }
    }
}

Task<void> big_messages(Loop* loop, std::string endpoint) {
    Pair pair(*loop, std::move(endpoint));
    co_await pair.open();
    // Larger than what may wait: one message always fits.
    std::string large(80 << 20, 'x');
    for (std::size_t i = 0; i < large.size(); i += 4096) {
        large[i] = static_cast<char>(i >> 12);
    }
    const ZmqMessage message{"head", large, "", "tail"};
    pair.answer(message);
    pair.answer({"after"});
    const ZmqMessage received = co_await pair.dealer->receive();
    CHECK(received == message);
    const ZmqMessage after = co_await pair.dealer->receive();
    CHECK(after == ZmqMessage{"after"});
    pair.dealer->send(message);
    const ZmqMessage theirs = co_await pair.router->receive();
    CHECK(theirs == ZmqMessage{"us", "head", large, "", "tail"});
}

// What is sent while no peer is connected waits; what a peer sent before it went arrives.
Task<void> vanish_and_come_back(Loop* loop, std::string endpoint) {
    Pair pair(*loop, endpoint);
    co_await pair.open();
    for (int round = 0; round < 5; ++round) {
        pair.answer({"farewell"});
        const ZmqMessage farewell = co_await pair.dealer->receive();
        CHECK(farewell == ZmqMessage{"farewell"});
        pair.router.reset();
        for (int i = 0; i < 50; ++i) {
            co_await loop->yield();
        }
        ZmqMessage meanwhile{"meanwhile", std::to_string(round)};
        pair.dealer->send(std::move(meanwhile));
        pair.router = std::make_unique<ZmqPeer>(*loop, ZMQ_ROUTER);
        pair.router->bind(endpoint);
        const ZmqMessage heard = co_await pair.router->receive();
        CHECK(heard == ZmqMessage{"us", "meanwhile", std::to_string(round)});
    }
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
    ZmqSocket socket(*loop, ZmqType::dealer, {}, max_bytes);
    socket.connect(endpoint);
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
    ZmqSocket socket(*loop, ZmqType::dealer, {}, max_bytes);
    CHECK_THROWS_AS(socket.connect("nonsense"), Error);
    CHECK_THROWS_AS(socket.connect("ipc://"), Error);
    CHECK_THROWS_AS(socket.connect("ipc:///" + std::string(200, 'x')), Error);
    co_return;
}

template <class Run>
void with_endpoint(Run run) {
    const TempFolder directory;
    Loop loop;
    loop.run(run(&loop, "ipc://" + directory.at("socket")));
}

} // namespace

TEST_CASE("ten thousand requests in mixed bursts are all answered, without a stall") {
    with_endpoint(mixed_sends);
}

TEST_CASE("a send that falls together with an answer does not hide the answer") {
    const TempFolder directory;
    const std::string endpoint = "ipc://" + directory.at("socket");
    std::thread elsewhere(echo_elsewhere, endpoint);
    Loop loop;
    loop.run(send_into_answers(&loop, endpoint));
    elsewhere.join();
}

TEST_CASE("a flood that is not read for a while arrives whole and in order") {
    with_endpoint(flood);
}

TEST_CASE("a subscriber that has joined gets everything in order, from a second publisher too") {
    with_endpoint(subscribe);
}

TEST_CASE("a message of 80 MB arrives in its frames, and what follows it too") {
    with_endpoint(big_messages);
}

TEST_CASE("a message of too many frames or bytes comes without them, and the next one whole") {
    with_endpoint(send_too_much);
}

TEST_CASE("a frame over the limit ends the connection, and the next one works") {
    with_endpoint(oversized_frame);
}

TEST_CASE("a peer that vanishes and comes back gets what was sent meanwhile") {
    with_endpoint(vanish_and_come_back);
}

TEST_CASE("closing a socket ends the receive that waits and every later one with an error") {
    with_endpoint(close_under_a_receiver);
}

TEST_CASE("an endpoint that cannot be is an error") {
    Loop loop;
    loop.run(refuse_endpoints(&loop));
}
