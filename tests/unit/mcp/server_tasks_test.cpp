// Calls that become tasks, in both eras.

#include "server_fixture.hpp"

using namespace cellgate;
using namespace cellgate::mcp::test;

namespace {

std::string with_tasks(std::string request) {
    const std::string capabilities = R"("io.modelcontextprotocol/clientCapabilities":{)";
    request.replace(request.find(capabilities), capabilities.size(),
                    capabilities + R"("extensions":{"io.modelcontextprotocol/tasks":{}},)");
    return request;
}

std::string task_params(const Json& task, const std::string& more = "") {
    return with_tasks(R"({"taskId":)" + task["taskId"].dump() + more + "," + modern_meta + "}");
}

Json modern_task(Fixture& fixture, Bare& client, const std::string& tool) {
    client.request(1, "tools/call", with_tasks(call(tool)));
    CHECK(client.answer(1).is_null());
    fixture.clock.advance(5s);
    return client.answer(1)["result"];
}

} // namespace

TEST_CASE("a call of the modern era becomes a task after a few seconds, with the same result") {
    Fixture fixture;
    Bare client(fixture);
    const Json made = modern_task(fixture, client, "hold");
    CHECK(made["resultType"] == "task");
    CHECK(made["status"] == "working");
    CHECK(made["ttlMs"].is_null());
    CHECK(made["pollIntervalMs"] == 1000);
    client.request(2, "tasks/get", task_params(made));
    CHECK(client.answer(2)["result"]["resultType"] == "complete");
    CHECK(client.answer(2)["result"]["status"] == "working");

    fixture.clock.advance(60s);
    fixture.record.release.set();
    client.request(3, "tasks/get", task_params(made));
    const Json ended = client.answer(3)["result"];
    CHECK(ended["status"] == "completed");
    CHECK(ended["result"]["content"][0]["text"] == "released");
    CHECK(ended["lastUpdatedAt"] > made["lastUpdatedAt"]);
    CHECK(fixture.record.calls == 1);
}

TEST_CASE("a call is no task when it is quick, or when its client has not declared the extension") {
    Fixture fixture;
    Bare client(fixture);
    client.request(1, "tools/call", with_tasks(call("fail")));
    CHECK(client.answer(1)["result"]["resultType"] == "complete");
    client.request(2, "tools/call", call("hold"));
    fixture.clock.advance(60s);
    CHECK(client.answer(2).is_null());
    fixture.record.release.set();
    CHECK(client.answer(2)["result"]["resultType"] == "complete");
}

TEST_CASE("what a task asks is answered by its key, once") {
    Fixture fixture;
    Bare client(fixture);
    const Json made = modern_task(fixture, client, "ask_later");
    fixture.record.release.set();
    client.request(2, "tasks/get", task_params(made));
    const Json asking = client.answer(2)["result"];
    CHECK(asking["status"] == "input_required");
    REQUIRE(asking["inputRequests"].size() == 1);
    const std::string key = asking["inputRequests"].begin().key();
    CHECK(asking["inputRequests"][key]["params"]["message"] == "may I?");

    const std::string accept = R"(:{"action":"accept","content":{"allow":true}})";
    client.request(3, "tasks/update", task_params(made, R"(,"inputResponses":{"another")" + accept + "}"));
    CHECK(client.answer(3)["result"]["resultType"] == "complete");
    CHECK(fixture.record.answers.empty());
    client.request(4, "tasks/update", task_params(made, R"(,"inputResponses":{")" + key + '"' + accept + "}"));
    CHECK(fixture.record.answers == std::vector<bool>{true});
    client.request(5, "tasks/get", task_params(made));
    CHECK(client.answer(5)["result"]["status"] == "completed");
    client.request(6, "tasks/update", task_params(made, R"(,"inputResponses":{")" + key + '"' + accept + "}"));
    CHECK(client.answer(6)["result"]["resultType"] == "complete");
    CHECK(fixture.record.answers.size() == 1);
}

TEST_CASE("a task is cancelled by its id") {
    Fixture fixture;
    Bare client(fixture);
    const Json made = modern_task(fixture, client, "hold");
    client.request(2, "tasks/cancel", task_params(made));
    CHECK(client.answer(2)["result"] == Json::parse(R"({"resultType":"complete"})"));
    CHECK(fixture.record.cancelled == 1);
    client.request(3, "tasks/get", task_params(made));
    CHECK(client.answer(3)["result"]["status"] == "cancelled");
    client.request(4, "tasks/cancel", task_params(made)); // again
    CHECK(!client.answer(4)["result"].is_null());
}

TEST_CASE("requests about tasks are refused where there can be none") {
    Fixture fixture;
    Bare client(fixture);
    const Json made = modern_task(fixture, client, "hold");
    const Json foreign = Json::parse(R"({"taskId":"00000000000000000000000000000000"})");
    for (const std::string method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
        CAPTURE(method);
        client.heard.clear();
        const std::string id = made["taskId"].dump();
        client.request(2, method, R"({"inputResponses":{},"taskId":)" + id + "," + modern_meta + "}");
        CHECK(client.answer(2)["error"]["code"] == -32021);
        CHECK(client.answer(2)["error"]["data"]["requiredCapabilities"]["extensions"].contains(
            "io.modelcontextprotocol/tasks"));
        client.request(3, method, task_params(foreign, R"(,"inputResponses":{})"));
        CHECK(client.answer(3)["error"]["code"] == -32602);
    }
    for (const std::string method : {"tasks/list", "tasks/result"}) {
        client.request(4, method, task_params(made));
        CHECK(client.answer(4)["error"]["code"] == -32601);
        client.heard.clear();
    }
    CHECK(fixture.record.cancelled == 0);
}

TEST_CASE("a client of 2025-11-25 makes a task, and gets its result when it has ended") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize();
    CHECK(client.answer(1000)["result"]["capabilities"]["tasks"]["requests"]["tools"].contains("call"));
    client.request(1, "tools/list", "{}");
    CHECK(client.answer(1)["result"]["tools"][0]["execution"]["taskSupport"] == "optional");
    client.request(2, "tools/call", R"({"name":"hold","task":{"ttl":60000}})");
    const Json made = client.answer(2)["result"]["task"];
    CHECK(made["status"] == "working");
    const std::string id = R"({"taskId":)" + made["taskId"].dump() + "}";
    client.request(3, "tasks/result", id);
    CHECK(client.answer(3).is_null());
    client.request(4, "tasks/list", "{}");
    CHECK(client.answer(4)["result"]["tasks"][0]["taskId"] == made["taskId"]);
    fixture.record.release.set();
    CHECK(text_of(client.answer(3)) == "released");
    CHECK(client.answer(3)["result"]["_meta"]["io.modelcontextprotocol/related-task"]["taskId"] == made["taskId"]);
    client.request(5, "tasks/get", id);
    CHECK(client.answer(5)["result"]["status"] == "completed");
    client.request(6, "tasks/cancel", id); // it has ended
    CHECK(client.answer(6)["error"]["code"] == -32602);

    client.request(7, "tools/call", R"({"name":"fail","task":{}})");
    client.request(8, "tasks/get", R"({"taskId":)" + client.answer(7)["result"]["task"]["taskId"].dump() + "}");
    CHECK(client.answer(8)["result"]["status"] == "failed");
}

TEST_CASE("a task of 2025-11-25 is cancelled") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize();
    client.request(1, "tools/call", R"({"name":"hold","task":{}})");
    const std::string id = R"({"taskId":)" + client.answer(1)["result"]["task"]["taskId"].dump() + "}";
    client.request(2, "tasks/result", id);
    client.request(3, "tasks/cancel", id);
    CHECK(client.answer(3)["result"]["status"] == "cancelled");
    CHECK(client.answer(2)["error"]["code"] == -32602);
    CHECK(fixture.record.cancelled == 1);
}

TEST_CASE("a task of 2025-11-25 asks while its result is waited for") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize("2025-11-25", R"({"elicitation":{}})");
    client.request(1, "tools/call", R"({"name":"ask","task":{}})");
    const std::string id = R"({"taskId":)" + client.answer(1)["result"]["task"]["taskId"].dump() + "}";
    client.request(2, "tasks/get", id);
    CHECK(client.answer(2)["result"]["status"] == "input_required");
    CHECK(client.asked("elicitation/create").is_null());
    client.request(3, "tasks/result", id);
    // A request that is given up leaves the question to the next one.
    client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}})");
    CHECK(fixture.record.answers.empty());
    client.request(4, "tasks/result", id);
    const std::vector<Json> questions = client.all("elicitation/create");
    REQUIRE(questions.size() == 2);
    client.accept(questions.front()); // withdrawn
    CHECK(fixture.record.answers.empty());
    client.accept(questions.back());
    CHECK(fixture.record.answers == std::vector<bool>{true});
    CHECK(text_of(client.answer(4)) == "yes");
}

TEST_CASE("a question that is withdrawn while it is shown leaves its task to the next question") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize("2025-11-25", R"({"elicitation":{}})");
    client.request(1, "tools/call", R"({"name":"swap","task":{}})");
    const std::string id = R"({"taskId":)" + client.answer(1)["result"]["task"]["taskId"].dump() + "}";
    client.request(2, "tasks/result", id);
    REQUIRE(client.all("elicitation/create").size() == 1);
    fixture.record.release.set(); // withdraws it, and asks another one
    const std::vector<Json> questions = client.all("elicitation/create");
    REQUIRE(questions.size() == 2);
    client.accept(questions.front());
    CHECK(fixture.record.answers.empty());
    client.accept(questions.back());
    CHECK(text_of(client.answer(2)) == "done");
}

TEST_CASE("of two requests that wait for a result, the other one shows the question once the first is given up") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize("2025-11-25", R"({"elicitation":{}})");
    client.request(1, "tools/call", R"({"name":"ask","task":{}})");
    const std::string id = R"({"taskId":)" + client.answer(1)["result"]["task"]["taskId"].dump() + "}";
    client.request(2, "tasks/result", id);
    client.request(3, "tasks/result", id);
    REQUIRE(client.all("elicitation/create").size() == 1);
    client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
    REQUIRE(client.all("elicitation/create").size() == 2);
    client.accept(client.all("elicitation/create").back());
    CHECK(text_of(client.answer(3)) == "yes");
}

TEST_CASE("older clients have no tasks") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize("2025-06-18");
    CHECK(!client.answer(1000)["result"]["capabilities"].contains("tasks"));
    client.request(1, "tools/list", "{}");
    CHECK(!client.answer(1)["result"]["tools"][0].contains("execution"));
    client.request(2, "tools/call", R"({"name":"fail","task":{}})");
    CHECK(client.answer(2)["result"]["isError"] == true);
    client.request(3, "tasks/list", "{}");
    CHECK(client.answer(3)["error"]["code"] == -32601);
}

TEST_CASE("only so many tasks run at a time, and the oldest that has ended is forgotten first") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize();
    for (int i = 0; i < 64; ++i) {
        client.request(i, "tools/call", R"({"name":"hold","task":{}})");
    }
    client.request(64, "tools/call", R"({"name":"hold","task":{}})");
    CHECK(client.answer(64)["error"]["message"] == "too many tasks run: cancel one, or wait for one to end");
    const std::string first = R"({"taskId":)" + client.answer(0)["result"]["task"]["taskId"].dump() + "}";
    client.request(65, "tasks/cancel", first);
    client.request(66, "tools/call", R"({"name":"hold","task":{}})");
    CHECK(client.answer(66)["result"].contains("task"));
    client.request(67, "tasks/get", first);
    CHECK(client.answer(67)["error"]["code"] == -32602);
}

TEST_CASE("our own client follows the tasks of our server") {
    Fixture fixture;
    with_our_client(fixture, mcp::Era::modern, [&](mcp::Client& client) -> Task<void> {
        TaskScope calling;
        std::string text;
        auto talk = [&]() -> Task<void> {
            const CallToolResult result = co_await client.call_tool("hold", RawJson::checked("{}"));
            text = result.content.text();
        };
        calling.spawn(talk());
        fixture.clock.advance(5s);
        CHECK(text.empty());
        fixture.record.release.set();
        fixture.clock.advance(1s);
        co_await calling.join();
        CHECK(text == R"([{"type":"text","text":"released"}])");
    });
}
