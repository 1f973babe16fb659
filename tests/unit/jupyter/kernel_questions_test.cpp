// Questions to a kernel while no code runs, and a kernel's prompts.

#include "client_stage.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::jupyter;
using namespace cellgate::jupyter::test;

namespace {

Task<void> ask_into(KernelClient* client, Instant deadline, std::optional<std::string>* reply,
                    std::optional<Error>* failure, Event* ended) {
    try {
        KernelQuery query = inspection_query("1", 1, 0);
        *reply = co_await client->ask(std::move(query), deadline);
    } catch (const Error& error) {
        *failure = error;
    }
    ended->set();
}

struct Asking {
    std::optional<std::string> reply;
    std::optional<Error> failure;
    Event ended;

    Task<void> start(Stage* stage, Instant deadline) {
        return ask_into(stage->client.get(), deadline, &reply, &failure, &ended);
    }
};

Task<void> question_and_answer(Stage* stage, TaskScope* scope) {
    Asking asking;
    const Instant never = stage->loop.clock().now() + 1h;
    scope->spawn(asking.start(stage, never));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    CHECK(request.message.header.msg_type == "inspect_request");
    CHECK(stage->client->unanswered() == 1);
    const std::uint64_t before = stage->client->received();
    stage->kernel->reply(request, "complete_reply", R"({"found":"another"})");
    co_await taken(stage, before, 1);
    CHECK_FALSE(asking.ended.is_set());
    stage->kernel->reply(request, "inspect_reply", R"({"found":true})");
    co_await asking.ended.wait();
    CHECK(asking.reply == R"({"found":true})");
    CHECK(stage->client->unanswered() == 0);
    const std::uint64_t then = stage->client->received();
    stage->kernel->reply(request, "inspect_reply", R"({"found":false})");
    co_await taken(stage, then, 1);
    CHECK(asking.reply == R"({"found":true})");
}

Task<void> question_without_answer(Stage* stage, TaskScope* scope) {
    Asking asking;
    const Instant now = stage->loop.clock().now();
    scope->spawn(asking.start(stage, now));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    co_await asking.ended.wait();
    REQUIRE(asking.failure);
    CHECK(asking.failure->code == ErrorCode::busy);
    CHECK(stage->client->unanswered() == 1);
    stage->kernel->idle(request);
    while (stage->client->unanswered() != 0) {
        co_await stage->loop.yield();
    }
}

Task<void> question_that_fails(Stage* stage, TaskScope* scope) {
    Asking asking;
    const Instant never = stage->loop.clock().now() + 1h;
    scope->spawn(asking.start(stage, never));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    stage->kernel->idle(request);
    co_await asking.ended.wait();
    REQUIRE(asking.failure);
    CHECK(asking.failure->code == ErrorCode::unsupported);
    CHECK(stage->client->unanswered() == 0);
}

Task<void> question_to_a_dead_kernel(Stage* stage, TaskScope* scope) {
    Asking asking;
    const Instant never = stage->loop.clock().now() + 1h;
    scope->spawn(asking.start(stage, never));
    co_await FakeKernel::next_execute(stage->kernel.get());
    stage->client->fail(std::make_exception_ptr(Error(ErrorCode::kernel_died, "it died")));
    co_await asking.ended.wait();
    REQUIRE(asking.failure);
    CHECK(asking.failure->code == ErrorCode::kernel_died);
}

Task<void> prompts(Stage* stage, TaskScope* scope) {
    Outcome outcome;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "input()"), &outcome));
    FakeKernel& kernel = *stage->kernel;
    const FakeRequest request = co_await FakeKernel::next_execute(&kernel);
    Recorder* recorder = &stage->recorder;
    const auto question = [&](const std::string& prompt) {
        return kernel.encode("input_request", request.message.header_text,
                             R"({"prompt":")" + prompt + R"(","password":true})", request.identities);
    };
    async::ZmqMessage first = question("first");
    co_await send_when_joined(stage, &kernel.stdin_socket, std::move(first));
    kernel.stdin_socket.send(question("second"));
    std::function<bool()> both = [recorder] { return recorder->prompts.size() == 2; };
    co_await Recorder::until(recorder, std::move(both));
    CHECK(recorder->prompts[0].parent == "cell-1");
    CHECK(recorder->prompts[0].prompt == "first");
    CHECK(recorder->prompts[0].password);
    CHECK(recorder->prompts[0].id != recorder->prompts[1].id);
    stage->client->reply_input(recorder->prompts[0].id, "to a question that is gone");
    stage->client->reply_input(recorder->prompts[1].id, "answer\n");
    stage->client->reply_input(recorder->prompts[1].id, "once more");
    FakeRequest reply = co_await FakeKernel::next(&kernel, &kernel.stdin_socket);
    CHECK(reply.message.header.msg_type == "input_reply");
    CHECK(reply.message.content == R"({"value":"answer\n"})");
    kernel.stdin_socket.send(question("third"));
    std::function<bool()> third = [recorder] { return recorder->prompts.size() == 3; };
    co_await Recorder::until(recorder, std::move(third));
    stage->client->reply_input(recorder->prompts[2].id, std::nullopt);
    reply = co_await FakeKernel::next(&kernel, &kernel.stdin_socket);
    CHECK(reply.message.content == R"({"value":"\u0004"})");
    kernel.reply_ok(request);
    kernel.idle(request);
    co_await outcome.ended.wait();
}

} // namespace

TEST_CASE("a question is answered by the reply of its type, once") {
    run(question_and_answer);
}

TEST_CASE("who asks does not wait beyond the deadline; the question stays open until the kernel is done") {
    run(question_without_answer);
}

TEST_CASE("a kernel that is idle again without a reply has failed to answer") {
    run(question_that_fails);
}

TEST_CASE("a kernel that dies fails the questions that wait") {
    run(question_to_a_dead_kernel);
}

TEST_CASE("an answer reaches only the question that it was given to, once") {
    run(prompts);
}
