#pragma once
// `Stage` is a client and a kernel that a test plays, over real sockets; `run` plays one act of a test on it.

#include "base/fake_clock.hpp"
#include "jupyter/kernel_client.hpp"
#include "support.hpp"

#include <memory>
#include <optional>

namespace cellgate::jupyter::test {

using namespace std::chrono_literals;

struct Stage {
    Stage() : connection(create_connection(directory.path)) {}

    TempDirectory directory;
    async::Loop loop;
    ConnectionInfo connection;
    FakeClock fake_clock;
    Recorder recorder;
    std::unique_ptr<FakeKernel> kernel;
    std::unique_ptr<KernelClient> client;
};

struct Outcome {
    std::optional<ExecuteReply> reply;
    std::optional<Error> error;
    Event ended;
};

inline Task<void> execute_into(KernelClient* client, ExecuteRequest request, Outcome* outcome) {
    try {
        outcome->reply = co_await client->execute(std::move(request));
    } catch (const Error& error) {
        outcome->error = error;
    }
    outcome->ended.set();
}

inline Task<void> wait_ready_into(KernelClient* client, Instant deadline, std::optional<Error>* error, Event* ended) {
    try {
        co_await client->wait_ready(deadline);
    } catch (const Error& failure) {
        *error = failure;
    }
    ended->set();
}

using Act = Task<void> (*)(Stage* stage, TaskScope* scope);

// Connects until the client is ready, as every session does, then plays the act.
inline Task<void> answer_until_ready(FakeKernel* kernel, bool* ready) {
    while (!*ready) {
        const FakeRequest request = co_await FakeKernel::next(kernel, &kernel->shell);
        ++kernel->info_requests;
        kernel->answer_info(request);
        kernel->idle(request);
    }
}

// A fake clock stands still: the client's nudges while it connects need it to go on.
inline Task<void> tick(Stage* stage, bool* ready) {
    while (!*ready) {
        stage->fake_clock.advance(1ms);
        co_await stage->loop.yield();
    }
}

inline Task<void> play(Stage* stage, Act act, bool connect, Clock* clock) {
    stage->kernel = std::make_unique<FakeKernel>(stage->loop, stage->connection);
    stage->client = std::make_unique<KernelClient>(*clock, zmq_transport(stage->loop, stage->connection),
                                                   stage->recorder, stage->connection.print_function);
    TaskScope scope;
    if (connect) {
        bool ready = false;
        const std::shared_ptr<CancelState> answering = scope.spawn(answer_until_ready(stage->kernel.get(), &ready));
        scope.spawn(tick(stage, &ready));
        co_await stage->client->wait_ready(clock->now() + 1h);
        ready = true;
        answering->cancel();
        co_await scope.join();
    }
    std::exception_ptr error;
    try {
        co_await act(stage, &scope);
    } catch (const Error&) {
        error = std::current_exception();
    }
    scope.cancel();
    co_await scope.join();
    co_await stage->client->close();
    stage->client.reset();
    stage->kernel.reset();
    if (error) {
        std::rethrow_exception(error);
    }
}

// `print_function` as in ConnectionInfo.
inline void run(Act act, std::string print_function = {}) {
    Stage stage;
    stage.connection.print_function = std::move(print_function);
    stage.loop.run(play(&stage, act, true, &stage.loop.clock()));
}

// Until the client has taken `count` messages more.
inline Task<void> taken(Stage* stage, std::uint64_t since, std::uint64_t count) {
    while (stage->client->received() < since + count) {
        co_await stage->loop.yield();
    }
}

// Any channel may be the last that the client is on, and a router has nowhere to put what comes before it.
inline Task<void> send_when_joined(Stage* stage, async::ZmqPeer* socket, async::ZmqMessage message) {
    while (!socket->try_send(message)) {
        co_await stage->loop.yield();
    }
}

inline Task<void> sleeping(Stage* stage) {
    while (stage->fake_clock.sleepers() == 0) {
        co_await stage->loop.yield();
    }
}

inline void run_on_fake_clock(Act act, bool connect) {
    Stage stage;
    stage.loop.run(play(&stage, act, connect, &stage.fake_clock));
}

} // namespace cellgate::jupyter::test
