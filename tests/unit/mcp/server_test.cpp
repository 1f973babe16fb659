// The server: its eras, its tools, and input that is broken.

#include "server_fixture.hpp"

using namespace cellgate;
using namespace cellgate::mcp::test;

TEST_CASE("what has no id that can be read is answered without one, as MCP's schema has it") {
    Fixture fixture;
    Bare client(fixture);
    for (const char* line : {"[]", "{", R"({"jsonrpc":"2.0","id":null,"method":"ping"})"}) {
        client.heard.clear();
        client.say(line);
        REQUIRE(client.heard.size() == 1);
        CHECK(client.heard[0].contains("error"));
        CHECK_FALSE(client.heard[0].contains("id"));
    }
}

TEST_CASE("our own client finds its era, lists the tools and calls one") {
    for (const bool old : {false, true}) {
        CAPTURE(old);
        Fixture fixture(old);
        std::vector<std::string> names;
        std::string answer;
        std::string refusal;
        with_our_client(fixture, old ? mcp::Era::legacy : mcp::Era::modern, [&](mcp::Client& client) -> Task<void> {
            const mcp::ToolList list = co_await client.list_tools(fixture.clock.now() + 10s);
            for (const protocol::ToolSpec& tool : list.tools) {
                names.push_back(tool.name);
            }
            RawJson arguments = RawJson::checked(R"({"text":"hello"})");
            std::string name = "echo";
            const CallToolResult result = co_await client.call_tool(std::move(name), std::move(arguments));
            answer = result.content.text();
            RawJson none = RawJson::checked("{}");
            std::string fails = "fail";
            const CallToolResult refused = co_await client.call_tool(std::move(fails), std::move(none));
            refusal = refused.content.text();
            CHECK(refused.is_error == true);
        });
        CHECK(names == std::vector<std::string>{"echo", "hold", "ask", "swap", "ask_later", "fail"});
        CHECK(answer == R"([{"type":"text","text":"our client said hello"}])");
        CHECK(refusal == R"([{"type":"text","text":"a user said no\nask them"}])");
    }
}

TEST_CASE("every legacy version is answered with itself, any other with the newest") {
    for (const std::string version : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1", ""}) {
        Fixture fixture;
        Bare client(fixture);
        client.initialize(version);
        const bool known = version.starts_with("202") && version != "2026-07-28";
        CHECK(client.answer(1000)["result"]["protocolVersion"] == (known ? version : "2025-11-25"));
        CHECK(client.answer(1000)["result"]["serverInfo"]["name"] == "the server");
        const Json capabilities = client.answer(1000)["result"]["capabilities"];
        CHECK(capabilities["tools"] == Json::object());
        CHECK(capabilities.contains("tasks") == (!known || version == "2025-11-25"));
    }
}

TEST_CASE("the modern era needs no initialize, and says what it speaks") {
    Fixture fixture;
    Bare client(fixture);
    client.request(1, "server/discover", "{" + modern_meta + "}");
    const Json found = client.answer(1)["result"];
    CHECK(found["supportedVersions"] == Json::parse(R"(["2026-07-28"])"));
    CHECK(found["resultType"] == "complete");
    CHECK(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "the server");
    CHECK(found.contains("ttlMs"));
    client.request(2, "tools/list", "{" + modern_meta + "}");
    CHECK(client.answer(2)["result"]["tools"].size() == 6);
    CHECK(client.answer(2)["result"]["cacheScope"] == "private");
    client.request(3, "tools/call", call("fail"));
    CHECK(client.answer(3)["result"]["resultType"] == "complete");
}

TEST_CASE("what does not say its era, or says one that there is not, is refused") {
    Fixture fixture;
    Bare client(fixture);
    client.request(1, "tools/list", "{}");
    CHECK(client.answer(1)["error"]["code"] == -32602);
    client.request(2, "tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})");
    CHECK(client.answer(2)["error"]["code"] == -32602);
    client.request(3, "tools/list",
                   R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01",)"
                   R"("io.modelcontextprotocol/clientCapabilities":{}}})");
    CHECK(client.answer(3)["error"]["code"] == -32022);
    CHECK(client.answer(3)["error"]["data"]["supported"] == Json::parse(R"(["2026-07-28"])"));
    CHECK(client.answer(3)["error"]["data"]["requested"] == "2099-01-01");
}

TEST_CASE("a tool that there is not is an error, arguments that do not fit are a result that says so") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize();
    client.request(1, "tools/call", R"({"name":"nothing","arguments":{}})");
    CHECK(client.answer(1)["error"]["code"] == -32602);
    client.request(2, "tools/call", R"({"name":"echo","arguments":{"text":1}})");
    CHECK(client.answer(2)["result"]["isError"] == true);
    CHECK(text_of(client.answer(2)) == "arguments.text: expected a string, found 1");
    client.request(3, "tools/call", R"({"name":"echo","arguments":{"text":"a","approvals":"allow"}})");
    CHECK(client.answer(3)["result"]["isError"] == true);
    client.request(4, "tools/list", R"({"cursor":"x"})");
    CHECK(client.answer(4)["error"]["code"] == -32602);
    client.request(5, "resources/list", "{}");
    CHECK(client.answer(5)["error"]["code"] == -32601);
}

TEST_CASE("progress is sent to a client that asked for it, before the answer") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize();
    client.request(1, "tools/call", R"({"name":"echo","arguments":{"text":"a"}})");
    CHECK(client.asked("notifications/progress").is_null());
    client.request(2, "tools/call", R"({"name":"echo","arguments":{"text":"a"},"_meta":{"progressToken":"t"}})");
    const Json progress = client.asked("notifications/progress")["params"];
    CHECK(progress == Json::parse(R"({"progressToken":"t","progress":1,"message":"half way"})"));
    CHECK(text_of(client.answer(2)) == "old client said a");
}

TEST_CASE("a call that is cancelled ends, and is not answered") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize();
    client.request(1, "tools/call", R"({"name":"hold"})");
    REQUIRE(fixture.record.calls == 1);
    client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})"); // another one
    client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":[]}}})");
    client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled"})");
    CHECK(fixture.record.cancelled == 0);
    client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}})");
    CHECK(fixture.record.cancelled == 1);
    CHECK(client.answer(1).is_null());
    client.request(3, "ping", "{}");
    CHECK(client.answer(3)["result"] == Json::object());
}

TEST_CASE("a client that goes ends its calls") {
    Fixture fixture;
    {
        Bare client(fixture);
        client.initialize();
        client.request(1, "tools/call", R"({"name":"hold"})");
        REQUIRE(fixture.record.calls == 1);
    }
    CHECK(fixture.record.cancelled == 1);
}

TEST_CASE("garbage is answered with an error each, and nothing is lost behind it") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize();
    for (const std::string line :
         {"", "not json", "[]", R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", "null",
          R"({"jsonrpc":"2.0","id":null,"method":"ping"})", R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})",
          R"({"jsonrpc":"1.0","id":1,"method":"ping"})", R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})",
          R"({"jsonrpc":"2.0","id":1,"id":1,"method":"ping"})", "\xff\xfe"}) {
        client.say(line);
    }
    client.say(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":")" +
               std::string(2 << 20, 'x') + R"("}}})"); // more than the connection takes
    client.request(7, "ping", "{}");
    CHECK(client.answer(7)["result"] == Json::object());
    CHECK(client.answer(5).is_null());
    client.request(8, "tools/call", R"({"name":"echo","arguments":[]})");
    CHECK(client.answer(8)["result"]["isError"] == true);
}

TEST_CASE("resources are listed and read, in both eras") {
    const auto read = [](std::shared_ptr<mcp::ToolCall> call) -> Task<RawJson> {
        CHECK_FALSE(call->can_ask());
        co_return RawJson::checked(R"({"x":1})");
    };
    Fixture fixture(false, {{"variables", "Variables", "What there is.", read}});
    Bare client(fixture);
    client.initialize();
    CHECK(client.answer(1000)["result"]["capabilities"]["resources"] == Json::object());
    client.request(1, "resources/list", "{}");
    CHECK(client.answer(1)["result"]["resources"][0]["uri"] == "cellgate://variables");
    client.request(2, "resources/read", R"({"uri":"cellgate://variables"})");
    CHECK(client.answer(2)["result"]["contents"][0]["text"] == R"({"x":1})");
    client.request(3, "resources/read", R"({"uri":"cellgate://variables",)" + modern_meta + "}");
    CHECK(client.answer(3)["result"]["ttlMs"] == 0);
    client.request(4, "resources/read", R"({"uri":"cellgate://secrets"})");
    CHECK(client.answer(4)["error"]["code"] == -32602);
}

TEST_CASE("a server without resources has no requests for them") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize();
    CHECK_FALSE(client.answer(1000)["result"]["capabilities"].contains("resources"));
    client.request(1, "resources/list", "{}");
    CHECK(client.answer(1)["error"]["code"] == -32601);
}

TEST_CASE("an id that is in use is not used twice") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize();
    client.request(1, "tools/call", R"({"name":"hold"})");
    client.request(1, "tools/call", R"({"name":"hold"})");
    CHECK(fixture.record.calls == 1);
    CHECK(client.answer(1).is_null());
    fixture.record.release.set();
    CHECK(text_of(client.answer(1)) == "released");
}

TEST_CASE("the end of the stream at any byte ends the server") {
    const std::string talk =
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{},"clientInfo":{"name":"x","version":"1"}}})"
        "\n"
        R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hold"}})"
        "\n";
    for (std::size_t bytes = 0; bytes <= talk.size(); ++bytes) {
        Fixture fixture;
        fixture.end->write(talk.substr(0, bytes));
        fixture.end->close();
        CHECK(fixture.scope.running() == 0);
        CHECK(fixture.record.calls == fixture.record.cancelled);
    }
}
