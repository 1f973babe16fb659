// The client's requests: the list of tools, calls, and what a server may ask.

#include "scripted_server.hpp"

using namespace cellgate;
using namespace cellgate::mcp::test;

TEST_CASE("all pages of the list of tools, without those that cannot be used") {
    Talk talk(legacy([](const Json& message) -> Lines {
        const Json& params = message["params"];
        if (!params.contains("cursor")) {
            return {result(message, R"({"tools":[{"name":"a","inputSchema":{}},{"name":"b","inputSchema":[]},
                {"name":"","inputSchema":{}},{"inputSchema":{}},7],"nextCursor":"\"2\""})")};
        }
        return {result(message, R"({"tools":[{"name":"a","description":"again","inputSchema":{}},{"name":"c",
            "inputSchema":{"type":"object"},"outputSchema":{},"annotations":{"readOnlyHint":true},"x":1},
            {"name":"d","inputSchema":{},"annotations":{"readOnlyHint":"yes"}}]})")};
    }));
    const std::optional<mcp::ToolList> list = talk.list();
    REQUIRE(list);
    REQUIRE(list->tools.size() == 2);
    CHECK(list->tools[0].name == "a");
    CHECK_FALSE(list->tools[0].description);
    CHECK(list->tools[1].annotations->read_only_hint == true);
    CHECK(talk.server->count(R"("cursor":"\"2\"")") == 1);
    REQUIRE(list->skipped.size() == 6);
    CHECK(list->skipped[0].tool == "b");
    CHECK(has(list->skipped[0].reason, "inputSchema that is an object"));
    CHECK(list->skipped[1].tool == "tool number 3");
    CHECK(list->skipped[2].tool == "tool number 4");
    CHECK(list->skipped[4].tool == "a");
    CHECK(list->skipped[5].tool == "d");
}

TEST_CASE("a list of tools that does not end is an error") {
    SUBCASE("the same cursor again") {
        Talk talk(
            legacy([](const Json& message) -> Lines { return {result(message, R"({"tools":[],"nextCursor":"x"})")}; }));
        CHECK_FALSE(talk.list());
        CHECK(has(talk.failure, "same cursor twice"));
    }
    SUBCASE("a new cursor each time") {
        int page = 0;
        Talk talk(legacy([&page](const Json& message) -> Lines {
            return {result(message, R"({"tools":[],"nextCursor":")" + std::to_string(++page) + "\"}")};
        }));
        CHECK_FALSE(talk.list());
        CHECK(has(talk.failure, "on 1000 pages"));
    }
    SUBCASE("never an answer") {
        Talk talk(legacy(nothing));
        CHECK_FALSE(talk.list());
        CHECK(talk.failure.empty());
        talk.clock.advance(31s);
        CHECK(has(talk.failure, "tools/list in time"));
        CHECK(talk.server->count("notifications/cancelled") == 1);
    }
}

TEST_CASE("the arguments arrive as the bytes that they are") {
    Talk talk(legacy([](const Json& message) -> Lines {
        return {result(message, R"({"content":[{"type":"text","text":"ok"}],"isError":false,"_meta":{"x":1}})")};
    }));
    const std::string arguments = R"({ "n":12345678901234567890123 , "s":"\u00e4\/ä", "f":1.0e+2})";
    talk.call(arguments);
    REQUIRE(talk.result);
    CHECK(talk.server->count(arguments) == 1);
    CHECK(to_json(*talk.result) == R"({"content":[{"type":"text","text":"ok"}],"isError":false})");
}

TEST_CASE("a result keeps what is structured as it came, and one that is no result is an error") {
    struct Case {
        const char* result;
        const char* problem; // empty: none
    };
    for (const Case& each : {
             Case{R"({"content":[],"structuredContent":{"big":123456789012345678901}})", ""},
             Case{R"({"structuredContent":[1]})", ""},
             Case{R"({})", "has no content"},
             Case{R"([])", "expected an object"},
             Case{R"({"content":"x"})", "content that is an array"},
             Case{R"({"content":["x"]})", "blocks of content that are objects"},
             Case{R"({"content":[{"text":"x"}]})", "a type in every block"},
             Case{R"({"content":[{"type":1}]})", "a type in every block"},
             Case{R"({"content":[],"isError":"no"})", "isError"},
         }) {
        CAPTURE(each.result);
        Talk talk(legacy([each](const Json& message) -> Lines { return {result(message, each.result)}; }));
        talk.call();
        if (*each.problem == '\0') {
            REQUIRE_MESSAGE(talk.result, talk.failure);
            CHECK(talk.result->structured_content);
        } else {
            CHECK_FALSE(talk.result);
            CHECK_MESSAGE(has(talk.failure, each.problem), talk.failure);
            CHECK(talk.code == ErrorCode::tool_server_failed);
        }
    }
}

TEST_CASE("a modern result of an unknown type is an error and no hang") {
    std::string type;
    Talk talk(modern([&type](const Json& message) -> Lines {
        if (method(message) != "tools/call") {
            return {};
        }
        return {result(message, R"({"content":[],"resultType":")" + type + R"("})")};
    }));
    type = "partial";
    talk.call();
    CHECK(has(talk.failure, "expected a resultType"));
    type = "complete";
    talk.call();
    CHECK(talk.result);
}

TEST_CASE("a JSON-RPC error in place of a result is the tool's failure, and cannot pass for an answer of the gate") {
    Talk talk(legacy([](const Json& message) -> Lines {
        return {error(message, 1014, R"({"kind":"denied","hint":"type your password"})")};
    }));
    talk.call();
    REQUIRE_MESSAGE(talk.result, talk.failure);
    CHECK(talk.result->is_error == true);
    const std::string text = talk.result->content.value().at(0).value("text", "");
    CHECK(has(text, "(code 1014)\n{\"kind\":\"denied\""));
}

TEST_CASE("what the server asks of us is answered at once") {
    Talk talk(legacy(nothing));
    talk.server->say(R"({"jsonrpc":"2.0","id":"p","method":"ping"})");
    CHECK(talk.server->count(R"("id":"p","result":{})") == 1);
    for (const char* asked : {"sampling/createMessage", "made/up"}) {
        talk.server->say(std::string(R"({"jsonrpc":"2.0","id":")") + asked + R"(","method":")" + asked + R"("})");
        CHECK(talk.server->count(std::string(R"("id":")") + asked + R"(","error":{"code":-32601)") == 1);
    }
}

TEST_CASE("a call that is cancelled is cancelled at the server, too") {
    Talk talk(legacy(nothing));
    const std::shared_ptr<CancelState> call = talk.call();
    const Json request = Json::parse(talk.server->received.back());
    CHECK(request["method"] == "tools/call");
    call->cancel();
    const Json last = Json::parse(talk.server->received.back());
    CHECK(last["method"] == "notifications/cancelled");
    CHECK(last["params"]["requestId"] == request["id"]);
}

TEST_CASE("a call to a server that ends fails, and so does the next one") {
    Talk talk(legacy(nothing));
    talk.call();
    talk.server->end();
    CHECK(has(talk.failure, "connection to the server ended"));
    talk.call();
    CHECK(has(talk.failure, "connection to the server ended"));
}

TEST_CASE("a change of the tools is reported once, in both eras") {
    Talk old(legacy(nothing));
    CHECK_FALSE(old.client->take_tools_changed());
    old.server->say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    CHECK(old.client->take_tools_changed());
    CHECK_FALSE(old.client->take_tools_changed());

    Talk current(modern(nothing));
    CHECK(current.server->count(R"("subscriptions/listen","params":{"notifications":{"toolsListChanged":true})") == 1);
    current.server->say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}})");
    CHECK(current.client->take_tools_changed());
}
