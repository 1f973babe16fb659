// How the client finds out which era of the protocol a server speaks.

#include "scripted_server.hpp"

using namespace cellgate;
using namespace cellgate::mcp::test;

TEST_CASE("a server that does not know the probe is greeted in the legacy way, in any of its versions") {
    for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
        Talk talk(legacy(nothing, version));
        REQUIRE_MESSAGE(talk.client, talk.failure);
        CHECK(talk.client->era() == mcp::Era::legacy);
        CHECK(talk.client->protocol_version() == version);
        CHECK(talk.client->server_info()->name == "old");
        CHECK(talk.server->count("notifications/initialized") == 1);
    }
}

TEST_CASE("a server that requires an unknown version is refused") {
    for (const char* version : {"2026-07-28", "1999-01-01", ""}) {
        Talk talk(legacy(nothing, version));
        CHECK_FALSE(talk.client);
        CHECK(has(talk.failure, "expected a server that speaks MCP"));
    }
}

TEST_CASE("a server that leaves the probe unanswered is greeted in the legacy way after five seconds") {
    Talk talk([](const Json& message, const std::string& text) -> Lines {
        return method(message) == "server/discover" ? Lines{} : legacy(nothing)(message, text);
    });
    CHECK(talk.server->count("\"initialize\"") == 0);
    talk.clock.advance(4900ms);
    CHECK(talk.server->count("\"initialize\"") == 0);
    talk.clock.advance(200ms);
    REQUIRE(talk.client);
    CHECK(talk.client->era() == mcp::Era::legacy);
    CHECK(talk.server->count("notifications/cancelled") == 0);
}

TEST_CASE("a modern server is not greeted; every request says who asks") {
    Talk talk(modern([](const Json& message) -> Lines {
        if (method(message) == "tools/list") {
            return {result(message, R"({"tools":[]})")};
        }
        return {result(message, R"({"content":[],"resultType":"complete"})")};
    }));
    REQUIRE_MESSAGE(talk.client, talk.failure);
    CHECK(talk.client->era() == mcp::Era::modern);
    CHECK(talk.client->server_info()->name == "new");
    CHECK(talk.list()->tools.empty());
    talk.call();
    CHECK(talk.result);
    CHECK(talk.server->count("initialize") == 0);
    for (const std::string& text : talk.server->received) {
        const Json meta = Json::parse(text)["params"]["_meta"];
        CHECK(meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28");
        CHECK(meta["io.modelcontextprotocol/clientInfo"]["name"] == "cellgate");
        CHECK(
            meta["io.modelcontextprotocol/clientCapabilities"] ==
            Json::parse(
                R"({"elicitation":{"form":{},"url":{}},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}})"));
    }
}

TEST_CASE("errors by which a server shows its era") {
    struct Case {
        int code;
        const char* data;
        bool modern;
    };
    for (const Case& each :
         {Case{-32020, "null", true}, Case{-32021, "null", true},
          Case{-32022, R"({"supported":["2026-07-28"],"requested":"x"})", true},
          Case{-32022, R"({"supported":["2025-06-18"],"requested":"2026-07-28"})", false}, Case{-32022, "null", false},
          Case{-32602, "null", false}, Case{-32000, "null", false}, Case{1014, "null", false}}) {
        CAPTURE(each.code);
        Talk talk([each](const Json& message, const std::string& text) -> Lines {
            return method(message) == "server/discover" ? Lines{error(message, each.code, each.data)}
                                                        : legacy(nothing)(message, text);
        });
        REQUIRE_MESSAGE(talk.client, talk.failure);
        CHECK((talk.client->era() == mcp::Era::modern) == each.modern);
    }
}

TEST_CASE("a server that speaks only versions to come is refused with their names") {
    Talk talk([](const Json& message, const std::string&) -> Lines {
        return {error(message, -32022, R"({"supported":["2031-01-01"]})")};
    });
    CHECK_FALSE(talk.client);
    CHECK(has(talk.failure, "2031-01-01"));
}

TEST_CASE("a modern server that is slow to start is understood after all") {
    std::string late;
    Talk talk([&late](const Json& message, const std::string&) -> Lines {
        if (method(message) == "server/discover") {
            late = result(message, R"({"supportedVersions":["2026-07-28"]})");
            return {};
        }
        return {late, error(message, -32601)};
    });
    talk.clock.advance(6s);
    REQUIRE_MESSAGE(talk.client, talk.failure);
    CHECK(talk.client->era() == mcp::Era::modern);
}

TEST_CASE("a server that never answers fails at the deadline, and one that ends fails at once") {
    Talk mute([](const Json&, const std::string&) -> Lines { return {}; });
    mute.clock.advance(6s);
    CHECK(mute.failure.empty());
    mute.clock.advance(25s);
    CHECK(has(mute.failure, "did not answer initialize in time"));

    Talk dead([](const Json&, const std::string&) -> Lines { return {}; });
    dead.server->end();
    CHECK(has(dead.failure, "connection to the server ended"));
}
