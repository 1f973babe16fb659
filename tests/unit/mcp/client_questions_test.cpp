// What a server of the legacy era asks while a call runs.

#include "asked_user.hpp"

using namespace cellgate;
using namespace cellgate::mcp::test;

namespace {

// A call that waits, and its follower.
struct Asking : Talk {
    Asking() : Talk(legacy(nothing)) {
        follower = user;
        running = call();
        request = Json::parse(server->received.back());
    }
    ~Asking() { running->cancel(); }
    bool heard(const std::string& part) const { return server->count(part) == 1; }
    void end() { server->say(mcp::test::result(request, R"({"content":[]})")); }

    std::shared_ptr<AskedUser> user = std::make_shared<AskedUser>();
    std::shared_ptr<CancelState> running;
    Json request;
};

} // namespace

TEST_CASE("a question goes to the follower of the call, and its answer to the server") {
    Asking talk;
    talk.server->say(ask("a"));
    CHECK(talk.user->asked == std::vector<std::string>{"when?"});
    CHECK(talk.heard(R"("id":"a","result":{"action":"accept","content":{"day":"monday"}})"));
    talk.user->answer = {mcp::ElicitationAction::decline, std::nullopt};
    talk.server->say(ask("b"));
    CHECK(talk.heard(R"("id":"b","result":{"action":"decline"})"));
    talk.user->answer = {mcp::ElicitationAction::cancel, std::nullopt};
    talk.server->say(ask("c"));
    CHECK(talk.heard(R"("id":"c","result":{"action":"cancel"})"));
}

TEST_CASE("who calls nothing is not asked, and nothing is asked without a follower") {
    Talk idle(legacy(nothing));
    idle.server->say(ask("a"));
    CHECK(idle.server->count(R"("id":"a","result":{"action":"decline"})") == 1);
    const std::shared_ptr<CancelState> call = idle.call();
    idle.server->say(ask("b"));
    CHECK(idle.server->count(R"("id":"b","result":{"action":"decline"})") == 1);
    call->cancel();
}

TEST_CASE("a question that breaks MCP, or cannot be shown, is an error") {
    Asking talk;
    const char* broken[] = {"{}",
                            R"({"message":7})",
                            R"({"message":"x"})",
                            R"({"message":"x","mode":"phone"})",
                            R"({"message":"x","mode":"url"})",
                            R"({"message":"x","requestedSchema":[]})"};
    int number = 0;
    for (const char* params : broken) {
        const std::string id = "x" + std::to_string(number++);
        talk.server->say(ask(id, params));
        CHECK_MESSAGE(talk.heard(R"("id":")" + id + R"(","error":{"code":-32602)"), params);
    }
    CHECK(talk.user->asked.empty());
    talk.user->refuse = true;
    talk.server->say(ask("y"));
    CHECK(talk.heard(R"("id":"y","error":{"code":-32602)"));
}

TEST_CASE("a question ends with its call, and when the server withdraws it") {
    Asking talk;
    talk.user->answers_at_once = false;
    talk.server->say(ask("a"));
    talk.server->say(ask("b"));
    CHECK(talk.user->waiting == 2);
    talk.server->say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}})");
    CHECK(talk.user->waiting == 1);
    talk.end();
    CHECK(talk.user->waiting == 0);
    CHECK(talk.result);
}

TEST_CASE("a call that is cancelled, and a server that ends, withdraw the question") {
    for (const bool cancelled : {true, false}) {
        Asking talk;
        talk.user->answers_at_once = false;
        talk.server->say(ask("a"));
        CHECK(talk.user->waiting == 1);
        if (cancelled) {
            talk.running->cancel();
        } else {
            talk.server->end();
        }
        CHECK(talk.user->waiting == 0);
    }
}

TEST_CASE("of endless questions eight wait at a time, and sixty-four are asked in a call") {
    Asking talk;
    talk.user->answers_at_once = false;
    for (int i = 0; i < 20; ++i) {
        talk.server->say(ask("w" + std::to_string(i)));
    }
    CHECK(talk.user->waiting == 8); // the control: each of them was asked
    CHECK(talk.server->count(R"("result":{"action":"decline"})") == 12);
    CHECK(talk.user->not_asked.size() == 12);
    talk.user->answers_at_once = true;
    talk.user->answer_all();
    for (int i = 0; i < 100; ++i) {
        talk.server->say(ask("t" + std::to_string(i)));
    }
    CHECK(talk.user->asked.size() == 64);
    CHECK(talk.server->count(R"("result":)") >= 120); // all are answered
}

TEST_CASE("the server may know the folder, and its log is kept") {
    Talk talk(legacy(nothing));
    talk.server->say(R"({"jsonrpc":"2.0","id":"r","method":"roots/list"})");
    CHECK(talk.server->count(R"("id":"r","result":{"roots":[]})") == 1);
}

TEST_CASE("pages are visited before a call that is refused for them, which is then made once more") {
    int calls = 0;
    Talk talk(legacy([&calls](const Json& message) -> Lines {
        if (++calls == 1) {
            return {
                error(message, -32042, R"({"elicitations":[{"mode":"url","elicitationId":"p","url":"https://a.example/",
"message":"pay"}]})")};
        }
        return {mcp::test::result(message, R"({"content":[{"type":"text","text":"paid"}]})")};
    }));
    const auto user = std::make_shared<AskedUser>();
    talk.follower = user;
    talk.call();
    REQUIRE(talk.result);
    CHECK(talk.result->content.value().at(0)["text"] == "paid");
    REQUIRE(user->asked.size() == 2); // the page, and whether it is done
    CHECK(user->asked[0] == "https://a.example/");
}

TEST_CASE("a page that has done its work by the server's word is not asked about any more") {
    int calls = 0;
    Talk talk(legacy([&calls](const Json& message) -> Lines {
        if (++calls == 1) {
            return {error(message, -32042, R"({"elicitations":[{"elicitationId":"p","url":"https://a.example/",
"message":"pay"}]})")};
        }
        return {mcp::test::result(message, R"({"content":[]})")};
    }));
    const auto user = std::make_shared<AskedUser>();
    user->answers_at_once = false;
    talk.follower = user;
    talk.call();
    CHECK(user->asked.size() == 1);
    user->answer_all();
    CHECK(user->asked.size() == 2);
    CHECK_FALSE(talk.result);
    talk.server->say(
        R"({"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"p"}})");
    CHECK(user->waiting == 0);
    CHECK(talk.result);
}

TEST_CASE("a page that is not opened, and a second refusal, are the tool's failure") {
    for (const bool opened : {true, false}) {
        Talk talk(legacy([](const Json& message) -> Lines {
            return {error(message, -32042, R"({"elicitations":[{"elicitationId":"p","url":"https://a.example/",
"message":"pay"}]})")};
        }));
        const auto user = std::make_shared<AskedUser>();
        user->answer.action = opened ? mcp::ElicitationAction::accept : mcp::ElicitationAction::decline;
        talk.follower = user;
        talk.call();
        REQUIRE(talk.result);
        CHECK(talk.result->is_error == true);
        CHECK(talk.server->count("tools/call") == (opened ? 2 : 1));
    }
}
