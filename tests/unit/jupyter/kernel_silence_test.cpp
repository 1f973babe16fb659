// A kernel that leaves something out: half of the end of an execution, iopub, or every answer.

#include "client_stage.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::jupyter;
using namespace cellgate::jupyter::test;

namespace {

Task<void> lost_idle(Stage* stage, TaskScope* scope) {
    Outcome outcome;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "1"), &outcome));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    stage->kernel->reply_ok(request);
    co_await sleeping(stage);
    stage->fake_clock.advance(1s);
    const FakeRequest probe = co_await FakeKernel::next(stage->kernel.get(), &stage->kernel->shell);
    CHECK(probe.message.header.msg_type == "kernel_info_request");
    CHECK_FALSE(outcome.ended.is_set()); // the time alone ends nothing
    stage->kernel->answer_info(probe);
    stage->kernel->idle(probe);
    co_await outcome.ended.wait();
    REQUIRE(outcome.reply);
    CHECK(outcome.reply->status == ExecuteStatus::ok);
}

Task<void> lost_reply(Stage* stage, TaskScope* scope) {
    Outcome outcome;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "1"), &outcome));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    stage->kernel->publish(request.message.header_text, "error", R"({"ename":"E","evalue":"v","traceback":[]})");
    stage->kernel->reply(request, "execute_reply", R"({"status":"error","status":"ok"})");
    stage->kernel->idle(request);
    co_await sleeping(stage);
    stage->fake_clock.advance(1s);
    const FakeRequest probe = co_await FakeKernel::next(stage->kernel.get(), &stage->kernel->shell);
    CHECK_FALSE(outcome.ended.is_set());
    stage->kernel->answer_info(probe);
    stage->kernel->idle(probe);
    co_await outcome.ended.wait();
    REQUIRE(outcome.reply);
    CHECK(outcome.reply->status == ExecuteStatus::error);
    CHECK(outcome.reply->error->ename == "E");
}

Task<void> silent_iopub(Stage* stage, TaskScope* scope) {
    bool heard_one = false;
    std::optional<Error> error;
    Event ready;
    scope->spawn(wait_ready_into(stage->client.get(), stage->loop.clock().now() + 20s, &error, &ready));
    // Answers, but publishes nothing, as a kernel whose iopub has not been joined yet.
    for (int i = 0; i < 3; ++i) {
        const FakeRequest request = co_await FakeKernel::next(stage->kernel.get(), &stage->kernel->shell);
        stage->kernel->answer_info(request);
        CHECK_FALSE(ready.is_set());
    }
    scope->spawn(answer_until_ready(stage->kernel.get(), &heard_one));
    co_await ready.wait();
    CHECK_FALSE(error);
}

Task<void> deadline(Stage* stage, TaskScope* scope) {
    std::optional<Error> error;
    Event ended;
    scope->spawn(wait_ready_into(stage->client.get(), stage->fake_clock.now() + 5s, &error, &ended));
    while (!ended.is_set()) {
        co_await sleeping(stage);
        stage->fake_clock.advance(1s);
        co_await stage->loop.yield();
    }
    REQUIRE(error);
    CHECK(error->code == ErrorCode::kernel_start_failed);
}

} // namespace

TEST_CASE("an idle that was lost does not hang the execution") {
    run_on_fake_clock(lost_idle, true);
}

TEST_CASE("a reply that was lost ends the execution with the error that was shown") {
    run_on_fake_clock(lost_reply, true);
}

TEST_CASE("a client is not ready before iopub has been heard, and asks again until it is") {
    Stage stage;
    stage.loop.run(play(&stage, silent_iopub, false, &stage.loop.clock()));
}

TEST_CASE("a kernel that never answers fails at the deadline") {
    run_on_fake_clock(deadline, false);
}
