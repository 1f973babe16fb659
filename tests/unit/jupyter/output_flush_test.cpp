// A kernel whose idle overtakes its output: the client's silent request after each execution, and its mark.

#include "client_stage.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::jupyter;
using namespace cellgate::jupyter::test;

namespace {

// The mark that the request prints.
std::string mark_of(const FakeRequest& flush) {
    const Json content = Json::parse(flush.message.content);
    CHECK(content.at("silent") == true);
    CHECK(content.at("store_history") == false);
    const std::string text = content.at("code");
    REQUIRE(text.starts_with("print(\""));
    REQUIRE(text.ends_with("\")"));
    return text.substr(7, text.size() - 9);
}

std::string stream(const std::string& text) {
    return R"({"name":"stdout","text":")" + text + "\"}";
}

Task<void> output_behind_idle(Stage* stage, TaskScope* scope) {
    for (const std::string id : {"cell-1", "cell-2"}) {
        stage->recorder.outputs.clear();
        Outcome outcome;
        scope->spawn(execute_into(stage->client.get(), code(id, "x"), &outcome));
        FakeKernel& kernel = *stage->kernel;
        const FakeRequest request = co_await FakeKernel::next_execute(&kernel);
        kernel.publish(request.message.header_text, "stream", stream("1"));
        kernel.reply_ok(request);
        kernel.idle(request);
        const FakeRequest flush = co_await FakeKernel::next_execute(&kernel);
        const std::string mark = mark_of(flush);
        const std::uint64_t before = stage->client->received();
        kernel.publish(request.message.header_text, "stream", stream("2"));
        kernel.publish(flush.message.header_text, "stream", stream("3"));
        kernel.publish(request.message.header_text, "execute_result",
                       R"({"data":{"text/plain":"r"},"metadata":{},"execution_count":1})");
        kernel.idle(flush);
        co_await taken(stage, before, 4);
        CHECK_FALSE(outcome.ended.is_set());
        kernel.publish(flush.message.header_text, "stream", stream("4" + mark));
        co_await outcome.ended.wait();
        CHECK(outcome.reply);
        CHECK(stage->recorder.bodies() ==
              std::vector<std::string>{
                  R"({"output_type":"stream","name":"stdout","text":"1"})",
                  R"({"output_type":"stream","name":"stdout","text":"2"})",
                  R"({"output_type":"stream","name":"stdout","text":"3"})",
                  R"({"output_type":"execute_result","execution_count":1,"data":{"text/plain":"r"},"metadata":{}})",
                  R"({"output_type":"stream","name":"stdout","text":"4"})"});
        for (const Recorded& each : stage->recorder.outputs) {
            CHECK(each.parent == id);
        }
    }
}

Task<void> no_mark(Stage* stage, TaskScope* scope) {
    Outcome outcome;
    scope->spawn(execute_into(stage->client.get(), code("cell-1", "x"), &outcome));
    FakeKernel& kernel = *stage->kernel;
    const FakeRequest request = co_await FakeKernel::next_execute(&kernel);
    kernel.reply_ok(request);
    kernel.idle(request);
    const FakeRequest flush = co_await FakeKernel::next_execute(&kernel);
    kernel.publish(flush.message.header_text, "error", R"({"ename":"E","evalue":"v","traceback":[]})");
    co_await outcome.ended.wait();
    CHECK(outcome.reply);
    CHECK(stage->recorder.outputs.empty());
    const std::uint64_t before = stage->client->received();
    kernel.publish(flush.message.header_text, "stream", stream(mark_of(flush)));
    co_await taken(stage, before, 1);
    CHECK(stage->recorder.outputs.empty());
}

} // namespace

TEST_CASE("an execution ends when the mark after it has come, and what came before the mark is its output") {
    run(output_behind_idle, "print");
}

TEST_CASE("code that broke the print function costs a second, and the mark is never shown") {
    run(no_mark, "print");
}
