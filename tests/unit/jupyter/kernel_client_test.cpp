// The client's executions: their ends, outputs and errors, and invalid messages.

#include "client_stage.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::jupyter;
using namespace cellgate::jupyter::test;

namespace {

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

Task<void> comms(Stage* stage, TaskScope*) {
    Recorder& recorder = stage->recorder;
    stage->kernel->publish("{}", "comm_open", R"({"comm_id":"c","target_name":"t","data":{}})");
    stage->kernel->publish("{}", "comm_msg", R"({"comm_id":"c","data":{"n":1}})");
    co_await Recorder::until(&recorder, [&recorder] { return recorder.comms.size() == 2; });
    CHECK(recorder.comms[0].first == "comm_open");
    CHECK(recorder.comms[1].first == "comm_msg");
    CHECK(recorder.comms[1].second == R"({"comm_id":"c","data":{"n":1}})");
    CHECK(recorder.outputs.empty());
    stage->client->send_comm(Channel::control, "comm_msg", R"({"comm_id":"c","data":{"n":2}})");
    const FakeRequest request = co_await FakeKernel::next(stage->kernel.get(), &stage->kernel->control);
    CHECK(request.message.header.msg_type == "comm_msg");
    CHECK(request.message.content == R"({"comm_id":"c","data":{"n":2}})");
}

} // namespace

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

TEST_CASE("interrupt and shutdown are sent on the control channel") {
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

TEST_CASE("messages of comms go to the listener, and to the kernel on the chosen channel") {
    run(comms);
}
