// Counts stalls of the ZeroMQ sockets on the loop: mixed sends (single ones, two at once, two with a moment or a turn
// of the loop between, small and large) to a peer on another thread that sends each back at once. A stall is an answer
// that is not there after a quarter of a second. Usage: stalls; a sample is 1000 sends and counts their stalls.

#include "async/loop.hpp"
#include "async/zmq_socket.hpp"

#include <zmq.h>

#include <atomic>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

using namespace cellgate;
using namespace std::chrono_literals;

constexpr int sends_per_sample = 1000;
constexpr std::size_t max_bytes = 1 << 20;

void echo(void* router) {
    while (true) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, router, 0) < 0) {
            zmq_msg_close(&frame);
            if (zmq_errno() == ETERM) {
                break;
            }
            continue;
        }
        const int more = zmq_msg_more(&frame) != 0 ? ZMQ_SNDMORE : 0;
        zmq_msg_send(&frame, router, more);
    }
    zmq_close(router);
}

Task<void> count_answers(async::ZmqSocket* socket, std::uint64_t* answers, Event* changed) {
    while (true) {
        co_await socket->receive();
        ++*answers;
        changed->set();
    }
}

struct Mix {
    Mix(async::Loop& loop_, async::ZmqSocket& socket_) : loop(loop_), socket(socket_) {}

    async::Loop& loop;
    async::ZmqSocket& socket;
    std::mt19937 random{1};
    std::uint64_t sent = 0;
    std::uint64_t answers = 0;
    Event changed;

    void send() {
        const std::size_t size = random() % 50 == 0 ? 200'000 : 10 + random() % 300;
        async::ZmqMessage message;
        message.emplace_back(size, 'x');
        socket.send(std::move(message));
        ++sent;
    }

    Task<int> sample() {
        int stalls = 0;
        for (int i = 0; i < sends_per_sample; i += 2) {
            send();
            const unsigned kind = random() % 4;
            if (kind == 1) {
                co_await loop.yield();
            } else if (kind == 2) {
                co_await sleep_for(loop.clock(), std::chrono::microseconds(random() % 1000));
            } else if (kind == 3) {
                stalls += co_await answered();
            }
            send();
            stalls += co_await answered();
        }
        co_return stalls;
    }

    // How often it stalled.
    Task<int> answered() {
        int stalls = 0;
        while (answers < sent) {
            changed.reset();
            const bool came = co_await wait_until(loop.clock(), changed, loop.clock().now() + 250ms);
            if (!came) {
                ++stalls;
                send(); // any call on the socket gets it going again
            }
        }
        co_return stalls;
    }
};

Task<void> run(async::Loop* loop, std::string endpoint) {
    async::ZmqSocket socket(*loop, async::ZmqType::dealer, {}, max_bytes);
    socket.connect(endpoint);
    Mix mix(*loop, socket);
    TaskScope receiver;
    receiver.spawn(count_answers(&socket, &mix.answers, &mix.changed));
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::string samples;
        for (int count = std::stoi(line); count > 0; --count) {
            const int stalls = co_await mix.sample();
            samples += (samples.empty() ? "" : ",") + std::to_string(stalls);
        }
        std::cout << '[' << samples << ']' << std::endl;
    }
    receiver.cancel();
    co_await receiver.join();
}

} // namespace

int main() {
    const std::string endpoint = "ipc:///tmp/bench-stalls-" + std::to_string(::getpid());
    void* context = zmq_ctx_new();
    void* router = zmq_socket(context, ZMQ_ROUTER);
    if (zmq_bind(router, endpoint.c_str()) != 0) {
        std::cerr << "cannot bind to " << endpoint << '\n';
        return 1;
    }
    std::thread peer(echo, router);
    {
        async::Loop loop;
        loop.run(run(&loop, endpoint));
    }
    zmq_ctx_shutdown(context);
    peer.join();
    zmq_ctx_term(context);
    ::unlink(endpoint.substr(6).c_str());
}
