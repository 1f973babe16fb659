#include "base/fake_clock.hpp"
#include "jupyter/kernel_client.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::jupyter;
using namespace cellgate::jupyter::test;
using namespace std::chrono_literals;

namespace {

// A client and a kernel that a test plays, over real sockets.
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

Task<void> execute_into(KernelClient* client, ExecuteRequest request, Outcome* outcome) {
    try {
        outcome->reply = co_await client->execute(std::move(request));
    } catch (const Error& error) {
        outcome->error = error;
    }
    outcome->ended.set();
}

Task<void> wait_ready_into(KernelClient* client, Instant deadline, std::optional<Error>* error, Event* ended) {
    try {
        co_await client->wait_ready(deadline);
    } catch (const Error& failure) {
        *error = failure;
    }
    ended->set();
}

using Act = Task<void> (*)(Stage* stage, TaskScope* scope);

// Connects until the client is ready, as every session does, then plays the act.
Task<void> answer_until_ready(FakeKernel* kernel, bool* ready) {
    while (!*ready) {
        const FakeRequest request = co_await FakeKernel::next(kernel, &kernel->shell);
        ++kernel->info_requests;
        kernel->answer_info(request);
        kernel->idle(request);
    }
}

// A fake clock stands still: the client's nudges while it connects need it to go on.
Task<void> tick(Stage* stage, bool* ready) {
    while (!*ready) {
        stage->fake_clock.advance(1ms);
        co_await stage->loop.yield();
    }
}

Task<void> play(Stage* stage, Act act, bool connect, Clock* clock) {
    stage->kernel = std::make_unique<FakeKernel>(stage->loop, stage->connection);
    stage->client = std::make_unique<KernelClient>(stage->loop, *clock, stage->connection, stage->recorder);
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

void run(Act act) {
    Stage stage;
    stage.loop.run(play(&stage, act, true, &stage.loop.clock()));
}

// Until the client has taken `count` messages more.
Task<void> taken(Stage* stage, std::uint64_t since, std::uint64_t count) {
    while (stage->client->received() < since + count) {
        co_await stage->loop.yield();
    }
}

// Any channel may be the last that the client is on, and a router has nowhere to put what comes before it.
Task<void> send_when_joined(Stage* stage, async::ZmqPeer* socket, async::ZmqMessage message) {
    while (!socket->try_send(message)) {
        co_await stage->loop.yield();
    }
}

Task<void> reply_before_idle(Stage* stage, TaskScope* scope) {
    Outcome outcome;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "print(1)"), &outcome));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    const Json content = Json::parse(request.message.content);
    CHECK(request.message.header.msg_id == "cell-1");
    CHECK(content.at("code") == "print(1)");
    CHECK(content.at("store_history") == true);
    CHECK(content.at("silent") == false);
    std::uint64_t before = stage->client->received();
    stage->kernel->reply_ok(request);
    co_await taken(stage, before, 1);
    CHECK_FALSE(outcome.ended.is_set());
    stage->kernel->publish(request.message.header_text, "stream", R"({"name":"stdout","text":"1\n"})");
    stage->kernel->idle(request);
    co_await outcome.ended.wait();
    REQUIRE(outcome.reply);
    CHECK(outcome.reply->status == ExecuteStatus::ok);
    CHECK(outcome.reply->execution_count == 1);
    REQUIRE(stage->recorder.outputs.size() == 1);
    CHECK(stage->recorder.outputs[0].parent == "cell-1");
    CHECK(stage->recorder.outputs[0].output.body.text() == R"({"output_type":"stream","name":"stdout","text":"1\n"})");
}

Task<void> idle_before_reply(Stage* stage, TaskScope* scope) {
    Outcome outcome;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "1"), &outcome));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    const std::uint64_t before = stage->client->received();
    stage->kernel->idle(request);
    co_await taken(stage, before, 1);
    CHECK_FALSE(outcome.ended.is_set());
    stage->kernel->reply_ok(request);
    co_await outcome.ended.wait();
    CHECK(outcome.reply);
}

Task<void> idle_of_others(Stage* stage, TaskScope* scope) {
    Outcome outcome;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "1"), &outcome));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    const std::uint64_t before = stage->client->received();
    stage->kernel->reply_ok(request);
    stage->kernel->status(R"({"msg_id":"cell-2"})", "idle");
    stage->kernel->status("{}", "idle");
    stage->kernel->status(request.message.header_text, "busy");
    stage->kernel->publish(request.message.header_text, "status", R"({"execution_state":["idle"]})");
    co_await taken(stage, before, 5);
    CHECK_FALSE(outcome.ended.is_set());
    stage->kernel->idle(request);
    co_await outcome.ended.wait();
    CHECK(outcome.reply);
}

Task<void> error_with_frames(Stage* stage, TaskScope* scope) {
    Outcome outcome;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "1/0"), &outcome));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    const std::string error = R"({"status":"error","execution_count":7,"ename":"E","evalue":"v","traceback":["a","b"],
        "cellgate":{"frames":[{"execution":"cell-1","path":null,"line":3,"function":"f"},
                              {"line":-1,"function":"negative"},{"line":"x"},7,
                              {"path":"/x.py","line":0,"function":"g"}]}})";
    stage->kernel->publish(request.message.header_text, "error", error);
    stage->kernel->reply(request, "execute_reply", error);
    stage->kernel->idle(request);
    co_await outcome.ended.wait();
    REQUIRE(outcome.reply);
    CHECK(outcome.reply->status == ExecuteStatus::error);
    CHECK(outcome.reply->execution_count == 7);
    REQUIRE(outcome.reply->error);
    CHECK(outcome.reply->error->ename == "E");
    CHECK(outcome.reply->error->traceback == std::vector<std::string>{"a", "b"});
    REQUIRE(outcome.reply->error->frames.size() == 2);
    CHECK(outcome.reply->error->frames[0].execution == "cell-1");
    CHECK(outcome.reply->error->frames[0].line == 3);
    CHECK(outcome.reply->error->frames[1].path == "/x.py");
    CHECK(stage->recorder.outputs.at(0).output.body.text() ==
          R"({"output_type":"error","ename":"E","evalue":"v","traceback":["a","b"]})");
}

Task<void> every_output(Stage* stage, TaskScope* scope) {
    Outcome outcome;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "1"), &outcome));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    const std::string parent = request.message.header_text;
    FakeKernel& kernel = *stage->kernel;
    kernel.publish(parent, "execute_input", R"({"code":"1","execution_count":1})");
    kernel.publish(parent, "comm_open", R"({"comm_id":"x"})");
    kernel.publish(parent, "no_such_type", "{}");
    kernel.publish(parent, "stream", R"({"name":"stderr","text":"e","extra":1})");
    kernel.publish(parent, "display_data",
                   R"({"data":{"text/plain":"x","a/b":[1]},"metadata":{"m":1},"transient":{"display_id":"d","x":1}})");
    kernel.publish(parent, "update_display_data", R"({"data":{},"transient":{"display_id":"d"}})");
    kernel.publish(parent, "execute_result", R"({"data":{"text/plain":"2"},"metadata":{},"execution_count":4})");
    kernel.publish(parent, "clear_output", R"({"wait":true})");
    kernel.reply_ok(request);
    kernel.idle(request);
    co_await outcome.ended.wait();
    CHECK(
        stage->recorder.bodies() ==
        std::vector<std::string>{
            R"({"output_type":"stream","name":"stderr","text":"e"})",
            R"({"output_type":"display_data","data":{"text/plain":"x","a/b":[1]},"metadata":{"m":1},"transient":{"display_id":"d"}})",
            R"({"output_type":"update_display_data","data":{},"metadata":{},"transient":{"display_id":"d"}})",
            R"({"output_type":"execute_result","execution_count":4,"data":{"text/plain":"2"},"metadata":{}})",
            R"({"output_type":"clear_output","wait":true})"});
    CHECK(stage->client->dropped() == 0);
}

Task<void> outputs_that_are_none(Stage* stage, TaskScope* scope) {
    Outcome outcome;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "1"), &outcome));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    const std::string parent = request.message.header_text;
    FakeKernel& kernel = *stage->kernel;
    kernel.publish(parent, "stream", R"({"name":"stdout","text":["a"]})");
    kernel.publish(parent, "stream", R"({"name":"stdout","text":"a","text":"b"})");
    kernel.publish(parent, "display_data", R"({"data":"x"})");
    kernel.publish(parent, "error", R"({"ename":"E","evalue":"v","traceback":[1]})");
    kernel.reply_ok(request);
    kernel.idle(request);
    co_await outcome.ended.wait();
    CHECK(stage->client->dropped() == 4);
    REQUIRE(stage->recorder.outputs.size() == 4);
    for (const Recorded& each : stage->recorder.outputs) {
        CHECK(each.parent == "cell-1");
        CHECK(each.output.type == OutputType::stream);
        const Json body = each.output.body.value();
        CHECK(body.at("name") == "stderr");
        CHECK(body.at("text").get<std::string>().find("was dropped") != std::string::npos);
    }
}

Task<void> ask_into(KernelClient* client, Instant deadline, std::optional<std::string>* reply,
                    std::optional<Error>* failure, Event* ended) {
    try {
        KernelQuery query = completeness_query("1");
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
    CHECK(request.message.header.msg_type == "is_complete_request");
    CHECK(stage->client->unanswered() == 1);
    const std::uint64_t before = stage->client->received();
    stage->kernel->reply(request, "inspect_reply", R"({"status":"another"})");
    co_await taken(stage, before, 1);
    CHECK_FALSE(asking.ended.is_set());
    stage->kernel->reply(request, "is_complete_reply", R"({"status":"complete"})");
    co_await asking.ended.wait();
    CHECK(asking.reply == R"({"status":"complete"})");
    CHECK(stage->client->unanswered() == 0);
    const std::uint64_t then = stage->client->received();
    stage->kernel->reply(request, "is_complete_reply", R"({"status":"invalid"})");
    co_await taken(stage, then, 1);
    CHECK(asking.reply == R"({"status":"complete"})");
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

Task<void> garbage(Stage* stage, TaskScope* scope) {
    Outcome outcome;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "1"), &outcome));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    const std::string parent = request.message.header_text;
    FakeKernel& kernel = *stage->kernel;
    const std::string text = R"({"name":"stdout","text":"forged"})";
    async::ZmqMessage unsigned_message = kernel.encode("stream", parent, text, {"topic"});
    unsigned_message[2] = std::string(64, 'a');
    const Header header{"other", "stream"};
    const async::ZmqMessage other_key = encode_message("another key", header, parent, text, "s", {"topic"});
    const async::ZmqMessage twice = kernel.encode("stream", parent, R"({"name":"stdout","text":"once"})", {"topic"});
    kernel.iopub.send(unsigned_message);
    kernel.iopub.send(other_key);
    kernel.iopub.send({"one frame"});
    kernel.iopub.send(twice);
    kernel.iopub.send(twice);
    async::ZmqMessage forged_reply =
        kernel.encode("execute_reply", parent, R"({"status":"error"})", request.identities);
    forged_reply.back() = R"({"status":"error" })";
    kernel.shell.send(forged_reply);
    kernel.shell.send({request.identities.front(), ""});
    async::ZmqMessage on_stdin = {request.identities.front(), "", ""};
    co_await send_when_joined(stage, &kernel.stdin_socket, std::move(on_stdin));
    async::ZmqMessage on_control = {request.identities.front(), "x"};
    co_await send_when_joined(stage, &kernel.control, std::move(on_control));
    kernel.reply_ok(request);
    kernel.idle(request);
    co_await outcome.ended.wait();
    REQUIRE(outcome.reply);
    CHECK(outcome.reply->status == ExecuteStatus::ok);
    CHECK(stage->recorder.stream_text() == "once");
    while (stage->client->dropped() < 8) { // those on stdin and control come by their own ways
        co_await stage->loop.yield();
    }
}

Task<void> late_and_made_up_parents(Stage* stage, TaskScope*) {
    stage->kernel->publish(R"({"msg_id":"long gone"})", "stream", R"({"name":"stdout","text":"a"})");
    stage->kernel->publish("{}", "stream", R"({"name":"stdout","text":"b"})");
    Recorder* recorder = &stage->recorder;
    std::function<bool()> enough = [recorder] { return recorder->outputs.size() == 2; };
    co_await Recorder::until(recorder, std::move(enough));
    CHECK(recorder->outputs[0].parent == "long gone");
    CHECK(recorder->outputs[1].parent.empty());
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

Task<void> control_messages(Stage* stage, TaskScope*) {
    stage->client->interrupt();
    stage->client->request_shutdown(true);
    FakeRequest request = co_await FakeKernel::next(stage->kernel.get(), &stage->kernel->control);
    CHECK(request.message.header.msg_type == "interrupt_request");
    request = co_await FakeKernel::next(stage->kernel.get(), &stage->kernel->control);
    CHECK(request.message.header.msg_type == "shutdown_request");
    CHECK(request.message.content == R"({"restart":true})");
}

Task<void> fails(Stage* stage, TaskScope* scope) {
    Outcome one;
    Outcome two;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "1"), &one));
    scope->spawn(execute_into(stage->client.get(), code("cell-2", "1"), &two));
    stage->client->fail(std::make_exception_ptr(Error(ErrorCode::kernel_died, "gone")));
    co_await one.ended.wait();
    co_await two.ended.wait();
    CHECK(one.error->message == "gone");
    CHECK(two.error->message == "gone");
    Outcome later;
    ExecuteRequest third = code("cell-3", "1");
    co_await execute_into(stage->client.get(), std::move(third), &later);
    CHECK(later.error->code == ErrorCode::kernel_died);
}

Task<void> one_id_twice(Stage* stage, TaskScope* scope) {
    Outcome first;
    Outcome second;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "1"), &first));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    ExecuteRequest again = code("cell-1", "2");
    co_await execute_into(stage->client.get(), std::move(again), &second);
    CHECK(second.error->code == ErrorCode::execution_exists);
    stage->kernel->reply_ok(request);
    stage->kernel->idle(request);
    co_await first.ended.wait();
    CHECK(first.reply);
}

Task<void> cancelled_wait(Stage* stage, TaskScope* scope) {
    Outcome outcome;
    const std::shared_ptr<CancelState> waiting =
        scope->spawn(execute_into(stage->client.get(), code("cell-1", "1"), &outcome));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    waiting->cancel();
    co_await outcome.ended.wait();
    CHECK(outcome.error->code == ErrorCode::request_cancelled);
    stage->kernel->publish(request.message.header_text, "stream", R"({"name":"stdout","text":"still there"})");
    stage->kernel->reply_ok(request);
    stage->kernel->idle(request);
    Outcome next;
    scope->spawn(execute_into(stage->client.get(), code("cell-2", "1"), &next));
    const FakeRequest second = co_await FakeKernel::next_execute(stage->kernel.get());
    stage->kernel->reply_ok(second);
    stage->kernel->idle(second);
    co_await next.ended.wait();
    CHECK(next.reply);
    CHECK(stage->recorder.stream_text() == "still there");
}

Task<void> flood(Stage* stage, TaskScope* scope) {
    constexpr int count = 50'000;
    Outcome outcome;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "1"), &outcome));
    const FakeRequest request = co_await FakeKernel::next_execute(stage->kernel.get());
    for (int i = 0; i < count; ++i) {
        stage->kernel->publish(request.message.header_text, "stream",
                               R"({"name":"stdout","text":")" + std::to_string(i) + "\"}");
    }
    stage->kernel->idle(request);
    stage->kernel->reply_ok(request);
    co_await outcome.ended.wait();
    const std::vector<Recorded>& outputs = stage->recorder.outputs;
    REQUIRE(outputs.size() == count);
    for (int i = 0; i < count; ++i) {
        REQUIRE(outputs[static_cast<std::size_t>(i)].output.body.text() ==
                R"({"output_type":"stream","name":"stdout","text":")" + std::to_string(i) + "\"}");
    }
}

// The two below run on a clock that a test moves: the client waits a second for the half of an end that is missing.
Task<void> sleeping(Stage* stage) {
    while (stage->fake_clock.sleepers() == 0) {
        co_await stage->loop.yield();
    }
}

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

void run_on_fake_clock(Act act, bool connect) {
    Stage stage;
    stage.loop.run(play(&stage, act, connect, &stage.fake_clock));
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

TEST_CASE("an execution ends after its reply and its idle, with all output before") {
    run(reply_before_idle);
}

TEST_CASE("an execution ends after its reply and its idle, in the other order too") {
    run(idle_before_reply);
}

TEST_CASE("another's idle, a busy and a status that is none end nothing") {
    run(idle_of_others);
}

TEST_CASE("an error comes with the frames that the kernel reports, and its output without them") {
    run(error_with_frames);
}

TEST_CASE("every kind of output becomes its nbformat object, and nothing else of the message") {
    run(every_output);
}

TEST_CASE("an output that is none is replaced by a notice, so that nothing is lost in silence") {
    run(outputs_that_are_none);
}

TEST_CASE("forged, broken and repeated messages are dropped on every channel, and the execution goes on") {
    run(garbage);
}

TEST_CASE("output of no running execution is delivered with the parent that it names") {
    run(late_and_made_up_parents);
}

TEST_CASE("an answer reaches only the question that it was given to, once") {
    run(prompts);
}

TEST_CASE("interrupt and shutdown go by the control channel") {
    run(control_messages);
}

TEST_CASE("when the kernel is gone, every wait of now and later fails with the cause") {
    run(fails);
}

TEST_CASE("an id that runs already is refused and does not disturb the first") {
    run(one_id_twice);
}

TEST_CASE("a cancelled wait leaves the kernel's messages to go where they went") {
    run(cancelled_wait);
}

TEST_CASE("a flood arrives whole and in order") {
    run(flood);
}

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
