// The client with servers that break the protocol, or end in the middle of a message.

#include "scripted_server.hpp"

using namespace cellgate;
using namespace cellgate::mcp::test;

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
