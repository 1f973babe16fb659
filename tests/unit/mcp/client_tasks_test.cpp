// Calls that their server makes tasks of.

#include "asked_user.hpp"

using namespace cellgate;
using namespace cellgate::mcp::test;

namespace {

struct FollowingUser final : mcp::CallFollower {
    bool wants_progress() const override { return true; }
    void on_progress(const mcp::CallProgress& progress) override { reported.push_back(progress.message.value_or("")); }
    Task<mcp::ElicitationAnswer> ask(mcp::ElicitationQuestion /*question*/) override {
        co_return mcp::ElicitationAnswer{};
    }

    std::vector<std::string> reported;
};

// A task as the modern era has it, which is asked for again after 2 s.
std::string task(const std::string& status, const std::string& more = {}) {
    return R"({"resultType":"complete","taskId":"t-1","status":")" + status +
           R"(","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null,)"
           R"("pollIntervalMs":2000)" +
           more + "}";
}

const std::string created = R"({"resultType":"task",)" + task("working").substr(task("working").find("\"taskId"));
const std::string completed = task("completed", R"(,"result":{"content":[{"type":"text","text":"done"}]})");

// Answers tools/call with a task, and each tasks/get with the next of these, the last one again and again.
struct ModernTask : Talk {
    explicit ModernTask(std::vector<std::string> states, std::string first = created)
        : Talk(modern([this, states, first](const Json& message) -> Lines {
              if (method(message) == "tasks/get") {
                  CHECK(message["params"]["taskId"] == "t-1");
                  return {mcp::test::result(message, states[std::min(asked++, states.size() - 1)])};
              }
              return {
                  mcp::test::result(message, method(message) == "tools/call" ? first : R"({"resultType":"complete"})")};
          })) {}

    void poll() { clock.advance(2s); }
    std::string text() const { return result ? result->content.text() : "no result"; }

    std::size_t asked = 0;
};

} // namespace

TEST_CASE("a task is asked for at its server's interval until it has ended") {
    ModernTask talk({task("working"), completed});
    talk.call();
    CHECK(talk.asked == 0);
    talk.clock.advance(1999ms);
    CHECK(talk.asked == 0);
    talk.clock.advance(1ms);
    CHECK(talk.asked == 1);
    CHECK_FALSE(talk.result);
    talk.poll();
    CHECK(has(talk.text(), "done"));
    CHECK(talk.server->count("tasks/cancel") == 0);
    // A server makes tasks only for a client that says that it takes them.
    CHECK(talk.server->count(R"("io.modelcontextprotocol/tasks":{})") == talk.server->received.size());
}

TEST_CASE("a server cannot make us ask in a loop, nor wait for days") {
    for (const auto& [interval, until] : {std::pair("0", 50ms), std::pair("864000000", 10000ms)}) {
        std::string first = created;
        first.replace(first.find("2000"), 4, interval);
        ModernTask talk({completed}, first);
        talk.call();
        talk.clock.advance(until - 1ms);
        CHECK(talk.asked == 0);
        talk.clock.advance(1ms);
        CHECK(talk.asked == 1);
    }
}

TEST_CASE("its messages are the progress of the call") {
    const auto says = [](const std::string& text) { return task("working", R"(,"statusMessage":")" + text + "\""); };
    ModernTask talk({says("reading"), says("reading"), says("writing"), completed});
    const auto user = std::make_shared<FollowingUser>();
    talk.follower = user;
    talk.call();
    for (int i = 0; i < 4; ++i) {
        talk.poll();
    }
    CHECK(user->reported == std::vector<std::string>{"reading", "writing"});
    CHECK(has(talk.text(), "done"));
}

TEST_CASE("what it asks the user is asked once, and answered by tasks/update") {
    const std::string asks =
        task("input_required",
             std::string(R"(,"inputRequests":{"q":{"method":"elicitation/create","params":)") + question + "}}");
    ModernTask talk({asks, asks, completed});
    const auto user = std::make_shared<AskedUser>();
    talk.follower = user;
    talk.call();
    talk.poll();
    CHECK(user->asked == std::vector<std::string>{"when?"});
    CHECK(talk.server->count("tasks/update") == 1);
    CHECK(talk.server->count(R"("inputResponses":{"q":{"action":"accept")") == 1);
    talk.poll();
    talk.poll();
    CHECK(user->asked.size() == 1);
    CHECK(talk.server->count("tasks/update") == 1);
    CHECK(has(talk.text(), "done"));
}

TEST_CASE("a task that fails or is cancelled by its server is a failed call, in the server's words") {
    const std::pair<std::string, std::string> cases[] = {
        {task("failed", R"(,"error":{"code":-32603,"message":"no quota"})"), "no quota"},
        {task("failed", R"(,"statusMessage":"it broke")"), "it broke"},
        {task("cancelled", R"(,"statusMessage":"at night")"), "the server cancelled the task: at night"}};
    for (const auto& [state, words] : cases) {
        ModernTask talk({state});
        talk.call();
        talk.poll();
        REQUIRE(talk.result);
        CHECK(talk.result->is_error.value_or(false));
        CHECK_MESSAGE(has(talk.text(), words), talk.text());
    }
}

TEST_CASE("a call that is given up asks its server to cancel the task") {
    ModernTask talk({task("working")});
    const std::shared_ptr<CancelState> running = talk.call();
    talk.poll();
    CHECK(talk.server->count("tasks/cancel") == 0);
    running->cancel();
    CHECK(talk.server->count(R"("method":"tasks/cancel","params":{"taskId":"t-1")") == 1);
    talk.poll();
    CHECK(talk.asked == 1);
}

TEST_CASE("a broken task fails the call") {
    for (const std::string& broken : {task("resting"), std::string(R"({"status":"working"})"), std::string("[]")}) {
        ModernTask talk({broken});
        talk.call();
        talk.poll();
        CHECK_MESSAGE(has(talk.failure, "answer to tasks/get is broken"), talk.failure);
    }
    ModernTask talk({completed}, R"({"resultType":"task","taskId":"","status":"working"})");
    talk.call();
    CHECK_MESSAGE(has(talk.failure, "answer to tools/call is broken"), talk.failure);
}

TEST_CASE("in the legacy era a tool that wants it is called as a task, and no other") {
    const auto tools = [](const std::string& support) {
        return R"({"tools":[{"name":"t","inputSchema":{"type":"object"},"execution":{"taskSupport":")" + support +
               "\"}}]}";
    };
    const std::string able = R"({"tasks":{"requests":{"tools":{"call":{}}}}})";
    struct Case {
        std::string support;
        std::string capabilities;
        bool as_task;
    };
    for (const Case& each :
         {Case{"required", able, true}, Case{"optional", able, false}, Case{"required", "{}", false}}) {
        CAPTURE(each.support);
        Talk talk([&](const Json& message, const std::string&) -> Lines {
            const std::string name = method(message);
            if (name == "server/discover") {
                return {error(message, -32601)};
            }
            if (name == "initialize") {
                return {result(message, R"({"protocolVersion":"2025-11-25","capabilities":)" + each.capabilities +
                                            R"(,"serverInfo":{"name":"old","version":"1"}})")};
            }
            if (name == "tools/list") {
                return {result(message, tools(each.support))};
            }
            if (name == "tools/call" && message["params"].contains("task")) {
                return {
                    result(message, R"({"task":{"taskId":"t-1","status":"working","ttl":null,"pollInterval":2000}})")};
            }
            if (name == "tasks/get") {
                return {result(message, R"({"taskId":"t-1","status":"completed","ttl":null})")};
            }
            return {result(message, R"({"content":[{"type":"text","text":")" + name + "\"}]}")};
        });
        talk.list();
        talk.call();
        talk.clock.advance(2s);
        REQUIRE_MESSAGE(talk.result, talk.failure);
        CHECK(has(talk.result->content.text(), each.as_task ? "tasks/result" : "tools/call"));
        CHECK(talk.server->count("tasks/get") == (each.as_task ? 1 : 0));
    }
}
