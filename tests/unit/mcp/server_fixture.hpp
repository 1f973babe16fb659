#pragma once
// `Fixture` is a server with a few tools, and the other end of its stream; `Bare` is a client that sends any bytes.

#include "base/fake_clock.hpp"
#include "base/memory_stream.hpp"
#include "mcp/client.hpp"
#include "mcp/content.hpp"
#include "mcp/server.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cellgate::mcp::test {

using namespace std::chrono_literals;
using protocol::CallToolResult;
using protocol::FramedConnection;
using protocol::Framing;

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
    bool offers_until_end = false;
    Consent last = Consent::declined;
    Event release;
    Event started;
};

inline Task<CallToolResult> echo(EchoArguments arguments, std::shared_ptr<ToolCall> call) {
    call->report("half way");
    co_return mcp::text_result(call->client().name + " said " + arguments.text);
}

inline Task<CallToolResult> hold(Record* record, std::shared_ptr<ToolCall>) {
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

inline Task<CallToolResult> ask(Record* record, std::shared_ptr<ToolCall> call) {
    ++record->calls;
    if (!call->can_ask()) {
        co_return mcp::error_result("cannot ask");
    }
    mcp::ConsentRequest question;
    question.text = "may I?";
    question.until_end = record->offers_until_end;
    bool yes = false;
    try {
        record->last = co_await call->ask(std::move(question));
        yes = mcp::is_yes(record->last);
    } catch (const Cancelled&) {
        ++record->cancelled;
        throw;
    }
    record->answers.push_back(yes);
    co_return mcp::text_result(yes ? "yes" : "no");
}

inline Task<void> put(Record* record, std::shared_ptr<ToolCall> call, std::string text) {
    mcp::ConsentRequest question;
    question.text = std::move(text);
    bool yes = false;
    try {
        const mcp::Consent consent = co_await call->ask(std::move(question));
        yes = mcp::is_yes(consent);
    } catch (const Cancelled&) {
        ++record->cancelled;
        throw;
    }
    record->answers.push_back(yes);
}

// Withdraws a harmless question, and puts another one in its place.
inline Task<CallToolResult> swap(Record* record, std::shared_ptr<ToolCall> call) {
    ++record->calls;
    TaskScope questions;
    const std::shared_ptr<CancelState> harmless = questions.spawn(put(record, call, "a look?"));
    co_await record->release.wait();
    harmless->cancel();
    questions.spawn(put(record, call, "delete all?"));
    co_await questions.join();
    co_return mcp::text_result("done");
}

inline Task<CallToolResult> ask_later(Record* record, std::shared_ptr<ToolCall> call) {
    co_await record->release.wait();
    co_return co_await ask(record, std::move(call));
}

inline Task<CallToolResult> fail(Empty, std::shared_ptr<ToolCall>) {
    throw Error(ErrorCode::denied, "a user said no", "ask them");
    co_return mcp::text_result("");
}

inline protocol::ToolSpec spec(std::string name) {
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

inline std::vector<mcp::Tool> test_tools(Record* record) {
    using Call = std::shared_ptr<ToolCall>;
    std::vector<mcp::Tool> tools;
    tools.push_back(mcp::typed_tool<EchoArguments>(spec("echo"), echo));
    tools.push_back(
        mcp::typed_tool<Empty>(spec("hold"), [record](Empty, Call call) { return hold(record, std::move(call)); }));
    tools.push_back(
        mcp::typed_tool<Empty>(spec("ask"), [record](Empty, Call call) { return ask(record, std::move(call)); }));
    tools.push_back(
        mcp::typed_tool<Empty>(spec("swap"), [record](Empty, Call call) { return swap(record, std::move(call)); }));
    tools.push_back(mcp::typed_tool<Empty>(spec("ask_later"),
                                           [record](Empty, Call call) { return ask_later(record, std::move(call)); }));
    tools.push_back(mcp::typed_tool<Empty>(spec("fail"), fail));
    return tools;
}

// A server, and the other end of its stream.
struct Fixture {
    explicit Fixture(bool old = false, std::vector<mcp::Resource> resources = {}) {
        auto [ours, theirs] = memory_stream_pair();
        end = std::move(ours);
        std::shared_ptr<protocol::Connection> connection =
            std::make_shared<FramedConnection>(std::move(theirs), Framing::lines, 1 << 20);
        if (old) {
            connection = std::make_shared<OldServer>(std::move(connection));
        }
        server = std::make_unique<mcp::Server>(
            std::move(connection), mcp::ServerDescription{{"the server", "1"}, "use it", std::move(resources)},
            test_tools(&record), clock);
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

// A client that says any bytes, and keeps every message of the server.
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

inline const std::string modern_meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":)"
    R"({"name":"new client","version":"2"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}})";

inline std::string call(const std::string& tool, const std::string& more = "") {
    return R"({"name":")" + tool + R"(","arguments":{}, )" + modern_meta + more + "}";
}

inline std::string text_of(const Json& answer) {
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

} // namespace cellgate::mcp::test
