#include "base/fake_clock.hpp"
#include "base/memory_stream.hpp"
#include "mcp/client.hpp"
#include "mcp/content.hpp"
#include "mcp/server.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>

using namespace cellgate;
using namespace std::chrono_literals;
using mcp::ToolCall;
using protocol::CallToolResult;
using protocol::FramedConnection;
using protocol::Framing;

namespace {

struct EchoArguments {
    static constexpr bool closed = true;
    std::string text;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("text", self.text);
    }
};

// What the server's tools did.
struct Record {
    int calls = 0;
    int cancelled = 0;
    std::vector<bool> answers;
    Event release;
    Event started;
};

Task<CallToolResult> echo(EchoArguments arguments, std::shared_ptr<ToolCall> call) {
    call->report("half way");
    co_return mcp::text_result(call->client().name + " said " + arguments.text);
}

Task<CallToolResult> hold(Record* record, std::shared_ptr<ToolCall>) {
    ++record->calls;
    record->started.set();
    try {
        co_await record->release.wait();
    } catch (const Cancelled&) {
        ++record->cancelled;
        throw;
    }
    co_return mcp::text_result("released");
}

Task<CallToolResult> ask(Record* record, std::shared_ptr<ToolCall> call) {
    ++record->calls;
    if (!call->can_ask()) {
        co_return mcp::error_result("cannot ask");
    }
    std::string question = "may I?";
    bool yes = false;
    try {
        yes = co_await call->ask(std::move(question));
    } catch (const Cancelled&) {
        ++record->cancelled;
        throw;
    }
    record->answers.push_back(yes);
    co_return mcp::text_result(yes ? "yes" : "no");
}

Task<void> put(Record* record, std::shared_ptr<ToolCall> call, std::string question) {
    bool yes = false;
    try {
        yes = co_await call->ask(std::move(question));
    } catch (const Cancelled&) {
        ++record->cancelled;
        throw;
    }
    record->answers.push_back(yes);
}

// Withdraws a harmless question, and puts another one in its place.
Task<CallToolResult> swap(Record* record, std::shared_ptr<ToolCall> call) {
    ++record->calls;
    TaskScope questions;
    const std::shared_ptr<CancelState> harmless = questions.spawn(put(record, call, "a look?"));
    co_await record->release.wait();
    harmless->cancel();
    questions.spawn(put(record, call, "delete all?"));
    co_await questions.join();
    co_return mcp::text_result("done");
}

Task<CallToolResult> fail(Empty, std::shared_ptr<ToolCall>) {
    throw Error(ErrorCode::denied, "a user said no", "ask them");
    co_return mcp::text_result("");
}

protocol::ToolSpec spec(std::string name) {
    protocol::ToolSpec described;
    described.name = std::move(name);
    described.input_schema = RawJson::checked(R"({"type":"object"})");
    return described;
}

// Answers as a server that is older than server/discover.
struct OldServer final : protocol::Connection {
    explicit OldServer(std::shared_ptr<Connection> inner_) : inner(std::move(inner_)) {}
    Task<std::optional<protocol::Frame>> receive() override {
        std::optional<protocol::Frame> frame = co_await inner->receive();
        if (frame) {
            const std::size_t at = frame->text.find("server/discover");
            if (at != std::string::npos) {
                frame->text.replace(at, 15, "server/unknown!");
            }
        }
        co_return frame;
    }
    void send(std::string message) override { inner->send(std::move(message)); }
    std::size_t queued_bytes() const override { return inner->queued_bytes(); }
    Task<void> drained(std::size_t below) override { return inner->drained(below); }
    void close() override { inner->close(); }
    std::shared_ptr<Connection> inner;
};

// A server, and the other end of its stream.
struct Fixture {
    explicit Fixture(bool old = false) {
        auto [ours, theirs] = memory_stream_pair();
        end = std::move(ours);
        std::shared_ptr<protocol::Connection> connection =
            std::make_shared<FramedConnection>(std::move(theirs), Framing::lines, 1 << 20);
        if (old) {
            connection = std::make_shared<OldServer>(std::move(connection));
        }
        std::vector<mcp::Tool> tools;
        tools.push_back(mcp::typed_tool<EchoArguments>(spec("echo"), echo));
        tools.push_back(mcp::typed_tool<Empty>(
            spec("hold"), [this](Empty, std::shared_ptr<ToolCall> call) { return hold(&record, std::move(call)); }));
        tools.push_back(mcp::typed_tool<Empty>(
            spec("ask"), [this](Empty, std::shared_ptr<ToolCall> call) { return ask(&record, std::move(call)); }));
        tools.push_back(mcp::typed_tool<Empty>(
            spec("swap"), [this](Empty, std::shared_ptr<ToolCall> call) { return swap(&record, std::move(call)); }));
        tools.push_back(mcp::typed_tool<Empty>(spec("fail"), fail));
        server = std::make_unique<mcp::Server>(
            std::move(connection), mcp::ServerDescription{{"the server", "1"}, "use it"}, std::move(tools), clock);
        scope.spawn(server->run());
    }
    ~Fixture() {
        if (end) {
            end->close();
        }
        CHECK(scope.running() == 0);
    }
    FakeClock clock;
    Record record;
    std::unique_ptr<ByteStream> end;
    std::unique_ptr<mcp::Server> server;
    TaskScope scope;
};

// A client that says any bytes, and keeps what it is told.
struct Bare {
    explicit Bare(Fixture& fixture) : fixture_(fixture) { scope.spawn(read()); }
    ~Bare() {
        fixture_.end->close();
        CHECK(scope.running() == 0);
    }
    Task<void> read() {
        protocol::Decoder decoder(Framing::lines);
        for (std::string bytes = co_await fixture_.end->read(); !bytes.empty(); bytes = co_await fixture_.end->read()) {
            decoder.feed(bytes);
            while (const std::optional<protocol::Frame> frame = decoder.next()) {
                heard.push_back(Json::parse(frame->text));
            }
        }
    }
    void say(const std::string& line) { fixture_.end->write(line + "\n"); }
    void request(int id, const std::string& method, const std::string& params) {
        say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"(","params":)" + params +
            "}");
    }
    void initialize(const std::string& version = "2025-11-25", const std::string& capabilities = "{}") {
        request(1000, "initialize",
                R"({"protocolVersion":")" + version + R"(","capabilities":)" + capabilities +
                    R"(,"clientInfo":{"name":"old client","version":"0"}})");
        say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    }
    void accept(const Json& question) {
        say(R"({"jsonrpc":"2.0","id":)" + question["id"].dump() +
            R"(,"result":{"action":"accept","content":{"allow":true}}})");
    }
    // The answer to request `id`; null when there is none.
    Json answer(int id) const {
        for (const Json& message : heard) {
            if (message.contains("id") && message["id"] == id && !message.contains("method")) {
                return message;
            }
        }
        return {};
    }
    Json asked(const std::string& method) const {
        const std::vector<Json> found = all(method);
        return found.empty() ? Json() : found.front();
    }
    std::vector<Json> all(const std::string& method) const {
        std::vector<Json> found;
        for (const Json& message : heard) {
            if (message.value("method", "") == method) {
                found.push_back(message);
            }
        }
        return found;
    }
    std::vector<Json> heard;
    Fixture& fixture_;
    TaskScope scope;
};

const std::string modern_meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":)"
    R"({"name":"new client","version":"2"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}})";

std::string call(const std::string& tool, const std::string& more = "") {
    return R"({"name":")" + tool + R"(","arguments":{}, )" + modern_meta + more + "}";
}

std::string text_of(const Json& answer) {
    return answer.at("result").at("content").at(0).at("text").get<std::string>();
}

// Runs `body` with our own client.
template <class Body>
void with_our_client(Fixture& fixture, mcp::Era era, Body body) {
    std::shared_ptr<mcp::Client> client;
    std::string problem;
    TaskScope scope;
    auto talk = [&]() -> Task<void> {
        try {
            auto connection = std::make_shared<FramedConnection>(std::move(fixture.end), Framing::lines, 1 << 20);
            mcp::Implementation ourselves{"our client", "1"};
            client = co_await mcp::Client::connect(std::move(connection), std::move(ourselves), fixture.clock,
                                                   fixture.clock.now() + 10s);
            co_await body(*client);
        } catch (const Error& error) {
            problem = error.message;
        }
        if (client) {
            co_await client->close();
        }
    };
    scope.spawn(talk());
    CHECK(problem == "");
    REQUIRE(client);
    CHECK(client->era() == era);
    CHECK(scope.running() == 0);
}

} // namespace

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
        CHECK(names == std::vector<std::string>{"echo", "hold", "ask", "swap", "fail"});
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
        CHECK(client.answer(1000)["result"]["capabilities"] == Json::parse(R"({"tools":{}})"));
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
    CHECK(client.answer(2)["result"]["tools"].size() == 5);
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

TEST_CASE("a question of the legacy era is a request, and only its own answer counts") {
    struct Case {
        const char* answer;
        bool yes;
    };
    const Case cases[] = {
        {R"("result":{"action":"accept","content":{"allow":true}})", true},
        {R"("result":{"action":"accept","content":{"allow":false}})", false},
        {R"("result":{"action":"accept","content":{"allow":"true"}})", false},
        {R"("result":{"action":"accept","content":{}})", false},
        {R"("result":{"action":"accept"})", false},
        {R"("result":{"action":"decline","content":{"allow":true}})", false},
        {R"("result":{"action":"cancel"})", false},
        {R"("result":{"content":{"allow":true}})", false},
        {R"("result":{})", false},
    };
    for (const Case& each : cases) {
        CAPTURE(each.answer);
        Fixture fixture;
        Bare client(fixture);
        client.initialize("2025-11-25", R"({"elicitation":{"form":{}}})");
        client.request(1, "tools/call", R"({"name":"ask"})");
        const Json question = client.asked("elicitation/create");
        REQUIRE(!question.is_null());
        CHECK(question["params"]["message"] == "may I?");
        // To a question that was not put.
        client.say(R"({"jsonrpc":"2.0","id":77,"result":{"action":"accept","content":{"allow":true}}})");
        CHECK(fixture.record.answers.empty());
        client.say(R"({"jsonrpc":"2.0","id":)" + question["id"].dump() + "," + each.answer + "}");
        CHECK(fixture.record.answers == std::vector<bool>{each.yes});
        CHECK(text_of(client.answer(1)) == (each.yes ? "yes" : "no"));
    }
}

TEST_CASE("a yes to a withdrawn question of the legacy era answers no other one") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize("2025-11-25", R"({"elicitation":{"form":{}}})");
    client.request(1, "tools/call", R"({"name":"swap"})");
    const Json harmless = client.asked("elicitation/create");
    REQUIRE(harmless["params"]["message"] == "a look?");
    fixture.record.release.set();
    REQUIRE(fixture.record.cancelled == 1);
    const std::vector<Json> questions = client.all("elicitation/create");
    REQUIRE(questions.size() == 2);
    const Json& other = questions.back();
    CHECK(other["params"]["message"] == "delete all?");
    CHECK(other["id"] != harmless["id"]);

    client.accept(harmless);
    CHECK(fixture.record.answers.empty());
    CHECK(client.answer(1).is_null());
    client.accept(other);
    CHECK(fixture.record.answers == std::vector<bool>{true});
    CHECK(text_of(client.answer(1)) == "done");
}

TEST_CASE("an error as the answer to a question is no yes") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize("2025-06-18", R"({"elicitation":{}})");
    client.request(1, "tools/call", R"({"name":"ask"})");
    const Json question = client.asked("elicitation/create");
    client.say(R"({"jsonrpc":"2.0","id":)" + question["id"].dump() + R"(,"error":{"code":-1,"message":"no form"}})");
    CHECK(client.answer(1)["result"]["isError"] == true);
    CHECK(fixture.record.answers.empty());
}

TEST_CASE("who cannot show a form is not asked") {
    for (const std::string capabilities : {"{}", R"({"elicitation":{"url":{}}})", R"({"elicitation":true})", "[]"}) {
        Fixture fixture;
        Bare client(fixture);
        client.initialize("2025-11-25", capabilities);
        client.request(1, "tools/call", R"({"name":"ask"})");
        CHECK(text_of(client.answer(1)) == "cannot ask");
    }
}

TEST_CASE("a question of the modern era comes back with its state, once") {
    Fixture fixture;
    Bare client(fixture);
    const std::string yes = R"(,"inputResponses":{"consent":{"action":"accept","content":{"allow":true}}})";
    client.request(1, "tools/call", call("ask", yes)); // an answer before the question
    const Json first = client.answer(1)["result"];
    CHECK(first["resultType"] == "input_required");
    CHECK(first["inputRequests"]["consent"]["method"] == "elicitation/create");
    CHECK(first["inputRequests"]["consent"]["params"]["message"] == "may I?");
    const std::string state = R"(,"requestState":)" + first["requestState"].dump();

    client.request(2, "tools/call", call("ask", yes + R"(,"requestState":"00000000000000000000000000000000")"));
    CHECK(client.answer(2)["error"]["code"] == -32602);
    client.request(3, "tools/call", call("hold", yes + state)); // the answer to something else
    CHECK(client.answer(3)["error"]["code"] == -32602);
    CHECK(fixture.record.answers.empty());

    client.request(4, "tools/call", call("ask", state)); // without an answer it is asked again
    const Json again = client.answer(4)["result"];
    CHECK(again["resultType"] == "input_required");
    const std::string new_state = R"(,"requestState":)" + again["requestState"].dump();
    CHECK(new_state != state);

    client.request(5, "tools/call", call("ask", yes + new_state));
    CHECK(text_of(client.answer(5)) == "yes");
    CHECK(fixture.record.answers == std::vector<bool>{true});
    CHECK(fixture.record.calls == 1);
    client.request(6, "tools/call", call("ask", yes + new_state));
    CHECK(client.answer(6)["error"]["code"] == -32602);
    CHECK(fixture.record.calls == 1);
}

TEST_CASE("a yes to a question that was withdrawn while its call was suspended answers no other one") {
    const std::string yes = R"(,"inputResponses":{"consent":{"action":"accept","content":{"allow":true}}})";
    Fixture fixture;
    Bare client(fixture);
    client.request(1, "tools/call", call("swap"));
    const Json harmless = client.answer(1)["result"];
    REQUIRE(harmless["inputRequests"]["consent"]["params"]["message"] == "a look?");
    fixture.record.release.set();
    REQUIRE(fixture.record.cancelled == 1);

    client.request(2, "tools/call", call("swap", yes + R"(,"requestState":)" + harmless["requestState"].dump()));
    CHECK(fixture.record.answers.empty());
    const Json other = client.answer(2)["result"];
    REQUIRE(other["resultType"] == "input_required");
    CHECK(other["inputRequests"]["consent"]["params"]["message"] == "delete all?");
    client.request(3, "tools/call", call("swap", yes + R"(,"requestState":)" + other["requestState"].dump()));
    CHECK(fixture.record.answers == std::vector<bool>{true});
    CHECK(text_of(client.answer(3)) == "done");
    CHECK(fixture.record.calls == 1);
}

TEST_CASE("a question that is never answered ends its call after a while") {
    Fixture fixture;
    Bare client(fixture);
    client.request(1, "tools/call", call("ask"));
    REQUIRE(client.answer(1)["result"]["resultType"] == "input_required");
    fixture.clock.advance(9min);
    CHECK(fixture.record.cancelled == 0);
    fixture.clock.advance(2min);
    CHECK(fixture.record.cancelled == 1);
    const std::string state = R"(,"requestState":)" + client.answer(1)["result"]["requestState"].dump();
    client.request(2, "tools/call", call("ask", state));
    CHECK(client.answer(2)["error"]["code"] == -32602);
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
