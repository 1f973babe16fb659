// Resources whose changes are waited for.

#include "scripted_server.hpp"

using namespace cellgate;
using namespace cellgate::mcp::test;

namespace {

struct Follower : Talk {
    using Talk::Talk;

    Task<void> follow_once(std::string uri) {
        try {
            co_await client->resource_changed(std::move(uri), 30s);
            ++changes;
        } catch (const Error& problem) {
            failure = problem.message;
        }
    }
    std::shared_ptr<CancelState> follow(const std::string& uri = "note://1") { return scope.spawn(follow_once(uri)); }
    void update(const std::string& uri) {
        server->say(R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":")" + uri + "\"}}");
    }

    int changes = 0;
};

Lines agree(const Json& message) {
    return method(message) == "resources/subscribe" ? Lines{result(message, "{}")} : Lines{};
}

} // namespace

TEST_CASE("the first time is at once, then each change is waited for, and none is missed in between") {
    struct Case {
        ScriptedServer::Answer server;
        std::string subscribes;
    };
    for (const Case& each : {Case{legacy(agree), R"("method":"resources/subscribe","params":{"uri":"note://1"})"},
                             Case{modern(nothing), R"("notifications":{"resourceSubscriptions":["note://1"]})"}}) {
        Follower talk(each.server);
        talk.follow();
        CHECK(talk.changes == 1);
        talk.follow();
        CHECK(talk.changes == 1);
        talk.update("note://2");
        CHECK(talk.changes == 1);
        talk.update("note://1");
        CHECK(talk.changes == 2);
        talk.update("note://1");
        talk.follow();
        CHECK(talk.changes == 3);
        CHECK(talk.server->count(each.subscribes) == 1);
    }
}

TEST_CASE("a change of a part is a change") {
    Follower talk(legacy(agree));
    talk.follow("file:///notes");
    talk.follow("file:///notes");
    talk.update("file:///notes/today");
    CHECK(talk.changes == 2);
}

TEST_CASE("waiting ends with the connection, and with its caller") {
    Follower talk(legacy(agree));
    talk.follow();
    const std::shared_ptr<CancelState> given_up = talk.follow();
    given_up->cancel();
    talk.update("note://1");
    CHECK(talk.changes == 1);
    talk.follow(); // the change that was not taken
    CHECK(talk.changes == 2);
    talk.follow();
    talk.server->end();
    CHECK(has(talk.failure, "the connection to the server ended"));
}

TEST_CASE("a server that refuses is an error, and is asked again the next time") {
    Follower talk(legacy([](const Json& message) -> Lines { return {error(message, -32602)}; }));
    for (std::size_t i = 1; i <= 2; ++i) {
        talk.follow();
        CHECK_MESSAGE(has(talk.failure, "resources/subscribe"), talk.failure);
        CHECK(talk.server->count("resources/subscribe") == i);
    }
    CHECK(talk.changes == 0);
}
