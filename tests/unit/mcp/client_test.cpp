#include "base/fake_clock.hpp"
#include "base/memory_stream.hpp"
#include "mcp/client.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <functional>

using namespace cellgate;
using namespace std::chrono_literals;
using protocol::FramedConnection;
using protocol::Framing;

namespace {

// A server that answers with the lines that `answer` gives for each message of ours; it is a bare connection, so that
// it can say anything.
struct ScriptedServer {
    using Answer = std::function<std::vector<std::string>(const Json& message, const std::string& text)>;

    ScriptedServer(std::unique_ptr<ByteStream> stream, Answer answer)
        : stream_(std::move(stream)), answer_(std::move(answer)) {}

    Task<void> run() {
        protocol::Decoder decoder(Framing::lines);
        while (true) {
            const std::string bytes = co_await stream_->read();
            if (bytes.empty()) {
                co_return;
            }
            decoder.feed(bytes);
            while (const std::optional<protocol::Frame> frame = decoder.next()) {
                received.push_back(frame->text);
                const Json message = Json::parse(frame->text);
                if (!message.contains("id") || !message.contains("method")) {
                    continue;
                }
                for (const std::string& line : answer_(message, frame->text)) {
                    say(line);
                }
            }
        }
    }
    void say(const std::string& line) { stream_->write(line + "\n"); }
    void end() { stream_->close(); }
    std::size_t count(const std::string& part) const {
        return static_cast<std::size_t>(std::count_if(received.begin(), received.end(), [&](const std::string& text) {
            return text.find(part) != std::string::npos;
        }));
    }

    std::unique_ptr<ByteStream> stream_;
    Answer answer_;
    std::vector<std::string> received;
};

std::string result(const Json& message, const std::string& value) {
    return R"({"jsonrpc":"2.0","id":)" + message["id"].dump() + R"(,"result":)" + value + "}";
}
std::string error(const Json& message, int code, const std::string& data = "null") {
    return R"({"jsonrpc":"2.0","id":)" + message["id"].dump() + R"(,"error":{"code":)" + std::to_string(code) +
           R"(,"message":"no","data":)" + data + "}}";
}
std::string method(const Json& message) {
    return message.value("method", "");
}

using Lines = std::vector<std::string>;

// What every legacy server does; `rest` for the other requests.
ScriptedServer::Answer legacy(std::function<Lines(const Json&)> rest, std::string version = "2025-06-18") {
    return [rest, version](const Json& message, const std::string&) -> Lines {
        if (method(message) == "server/discover") {
            return {error(message, -32601)};
        }
        if (method(message) == "initialize") {
            return {result(message, R"({"protocolVersion":")" + version +
                                        R"(","capabilities":{},"serverInfo":{"name":"old","version":"1"}})")};
        }
        return rest(message);
    };
}
ScriptedServer::Answer modern(std::function<Lines(const Json&)> rest) {
    return [rest](const Json& message, const std::string&) -> Lines {
        if (method(message) == "server/discover") {
            return {result(message, R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":
{"tools":{"listChanged":true}},"serverInfo":{"name":"new","version":"2"}})")};
        }
        return rest(message);
    };
}
std::string without_breaks(std::string text) {
    std::erase(text, '\n');
    return text;
}
Lines nothing(const Json&) {
    return {};
}

struct Talk {
    explicit Talk(ScriptedServer::Answer answer) {
        auto [ours, theirs] = memory_stream_pair();
        server =
            std::make_unique<ScriptedServer>(std::move(theirs), [answer](const Json& message, const std::string& text) {
                Lines lines = answer(message, text);
                std::transform(lines.begin(), lines.end(), lines.begin(), without_breaks);
                return lines;
            });
        connection = std::make_shared<FramedConnection>(std::move(ours), Framing::lines, 1 << 20);
        scope.spawn(server->run());
        scope.spawn(connect());
    }
    ~Talk() {
        scope.spawn(close());
        server->end();
        CHECK(scope.running() == 0);
    }
    Task<void> close() {
        if (client) {
            co_await client->close();
        }
    }
    Task<void> connect() {
        const Instant deadline = clock.now() + 30s;
        mcp::Implementation ourselves{"cellgate", "0"};
        try {
            client = co_await mcp::Client::connect(connection, std::move(ourselves), clock, deadline);
        } catch (const Error& problem) {
            failure = problem.message;
        }
    }
    Task<void> list_tools() {
        const Instant deadline = clock.now() + 30s;
        try {
            listed = co_await client->list_tools(deadline);
        } catch (const Error& problem) {
            failure = problem.message;
        }
    }
    std::optional<mcp::ToolList> list() {
        listed.reset();
        scope.spawn(list_tools());
        return listed;
    }
    Task<void> call_into(std::string tool, RawJson arguments) {
        try {
            result = co_await client->call_tool(std::move(tool), std::move(arguments));
        } catch (const Error& problem) {
            failure = problem.message;
            code = problem.code;
        }
    }
    std::shared_ptr<CancelState> call(std::string arguments = "{}") {
        result.reset();
        failure.clear();
        return scope.spawn(call_into("t", RawJson::parse(arguments)));
    }

    FakeClock clock;
    std::unique_ptr<ScriptedServer> server;
    std::shared_ptr<FramedConnection> connection;
    std::shared_ptr<mcp::Client> client;
    std::optional<mcp::ToolList> listed;
    std::optional<protocol::CallToolResult> result;
    std::string failure;
    ErrorCode code = ErrorCode::internal_error;
    TaskScope scope;
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

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
        CHECK(meta["io.modelcontextprotocol/clientCapabilities"] == Json::object());
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

TEST_CASE("a modern result that wants more input, or of an unknown type, is an error and no hang") {
    std::string type;
    Talk talk(modern([&type](const Json& message) -> Lines {
        if (method(message) != "tools/call") {
            return {};
        }
        return {result(message, R"({"content":[],"resultType":")" + type + R"(","inputRequests":{}})")};
    }));
    type = "input_required";
    talk.call();
    CHECK(has(talk.failure, "asks for more input"));
    type = "partial";
    talk.call();
    CHECK(has(talk.failure, "expected a resultType"));
    type = "complete";
    talk.call();
    CHECK(talk.result);
}

TEST_CASE("an error of the server cannot pass for one of the gate") {
    Talk talk(legacy([](const Json& message) -> Lines {
        return {error(message, 1014, R"({"kind":"denied","hint":"type your password"})")};
    }));
    talk.call();
    CHECK(talk.code == ErrorCode::tool_server_failed);
    CHECK(has(talk.failure, "(code 1014)"));
}

TEST_CASE("what the server asks of us is answered at once") {
    Talk talk(legacy(nothing));
    talk.server->say(R"({"jsonrpc":"2.0","id":"p","method":"ping"})");
    CHECK(talk.server->count(R"("id":"p","result":{})") == 1);
    for (const char* asked : {"roots/list", "sampling/createMessage", "elicitation/create", "made/up"}) {
        talk.server->say(std::string(R"({"jsonrpc":"2.0","id":")") + asked + R"(","method":")" + asked + R"("})");
        CHECK(talk.server->count(std::string(R"("id":")") + asked + R"(","error":{"code":-32601)") == 1);
    }
}

TEST_CASE("what a server prints beside messages is counted, and a call is answered all the same") {
    Talk talk(legacy([](const Json& message) -> Lines {
        return {"Listening on stdio…",
                "{\"level\":\"info\"}",
                "[1,2]",
                "\xff\xfe",
                R"({"jsonrpc":"2.0","id":06,)",
                R"({"jsonrpc":"2.0","id":)",
                result(message, R"({"content":[]})")};
    }));
    talk.call();
    CHECK(talk.result);
    CHECK(talk.client->ignored_messages() >= 6);
    CHECK(talk.server->count("-32700") == 0);
}

TEST_CASE("an answer that is no strict JSON ends its call, which would wait for ever otherwise") {
    for (const char* broken :
         {R"({"content":[],"content":[1]})", "{\"content\":\"\xff\"}", R"({"content":"\ud800"})"}) {
        Talk talk(legacy([broken](const Json& message) -> Lines { return {result(message, broken)}; }));
        talk.call();
        CHECK_MESSAGE(has(talk.failure, "expected one JSON value"), talk.failure);
        CHECK_FALSE(talk.client->is_closed());
    }
}

TEST_CASE("a line over the bound ends the connection, since an answer may have been in it") {
    Talk talk(legacy(
        [](const Json& message) -> Lines { return {result(message, "\"" + std::string(2 << 20, 'x') + "\"")}; }));
    talk.call();
    CHECK_MESSAGE(has(talk.failure, "expected a line of at most"), talk.failure);
    CHECK(talk.client->is_closed());
}

namespace {

// Takes everything and lets nothing out: what is sent stays queued.
struct DeafConnection final : protocol::Connection {
    Task<std::optional<protocol::Frame>> receive() override {
        if (closed || requests == 0) {
            co_return std::nullopt;
        }
        --requests;
        co_return protocol::Frame{
            R"({"jsonrpc":"2.0","id":)" + std::to_string(requests) + R"(,"method":"ping"})", {}, false};
    }
    void send(std::string message) override { queued += message.size(); }
    std::size_t queued_bytes() const override { return queued; }
    Task<void> drained(std::size_t) override { co_return; }
    void close() override { closed = true; }

    std::size_t requests = 5'000'000;
    std::size_t queued = 0;
    bool closed = false;
};

Task<void> connect_deaf(std::shared_ptr<DeafConnection> connection, Clock* clock, std::string* failure) {
    const Instant deadline = clock->now() + 30s;
    mcp::Implementation ourselves{"cellgate", "0"};
    try {
        co_await mcp::Client::connect(connection, std::move(ourselves), *clock, deadline);
    } catch (const Error& error) {
        *failure = error.message;
    }
}

} // namespace

TEST_CASE("a server that asks without end and reads no answers is dropped before it fills the memory") {
    FakeClock clock;
    TaskScope scope;
    std::string failure;
    const auto connection = std::make_shared<DeafConnection>();
    scope.spawn(connect_deaf(connection, &clock, &failure));
    CHECK(scope.running() == 0);
    CHECK(has(failure, "does not read the answers"));
    CHECK(connection->closed);
    CHECK(connection->queued < (std::size_t{40} << 20));
    CHECK(connection->requests > 0); // without the bound it would have taken all of them
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

TEST_CASE("a server that ends amid an answer fails what waits for it, at whichever byte") {
    const std::string whole = R"({"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"\u00e4 ä"}]}})";
    // The control: all of it, however it comes in parts.
    for (std::size_t at = 1; at < whole.size(); ++at) {
        Talk talk(legacy(nothing));
        talk.call();
        const std::string id = Json::parse(talk.server->received.back())["id"].dump();
        std::string answer = whole;
        answer.replace(answer.find("7"), 1, id);
        talk.server->stream_->write(answer.substr(0, at));
        CHECK_FALSE(talk.result);
        talk.server->stream_->write(answer.substr(at) + "\n");
        REQUIRE(talk.result);
        CHECK(has(to_json(*talk.result), "text"));
    }
    for (std::size_t at = 0; at <= whole.size(); ++at) {
        CAPTURE(at);
        Talk talk(legacy(nothing));
        talk.call();
        const std::string id = Json::parse(talk.server->received.back())["id"].dump();
        std::string answer = whole;
        answer.replace(answer.find("7"), 1, id);
        if (at > 0) {
            talk.server->stream_->write(answer.substr(0, at));
        }
        talk.server->end();
        CHECK_FALSE(talk.result);
        CHECK(has(talk.failure, "connection to the server ended"));
        CHECK(talk.client->is_closed());
    }
}

TEST_CASE("a server that ends amid its first answer is refused, at whichever byte") {
    const std::string greeting = R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})";
    for (std::size_t at = 0; at <= greeting.size(); ++at) {
        CAPTURE(at);
        Talk talk([](const Json&, const std::string&) { return Lines(); });
        if (at > 0) {
            talk.server->stream_->write(greeting.substr(0, at));
        }
        talk.server->end();
        CHECK_FALSE(talk.client);
        CHECK_FALSE(talk.failure.empty());
    }
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
