// The server behind messages that are posted one by one: what it sends is found at the request that it belongs to.

#include "mcp/posted_connection.hpp"
#include "server_fixture.hpp"

using namespace cellgate;
using namespace cellgate::mcp::test;
using Stream = std::shared_ptr<mcp::PostedConnection::Stream>;

namespace {

// A server behind posted messages.
struct PostedFixture {
    PostedFixture() {
        server.set_before_message([this](const std::string& beside) { connection->next_belongs_to(beside); });
        scope.spawn(server.run());
    }
    ~PostedFixture() {
        connection->close();
        CHECK(scope.running() == 0);
    }
    Stream request(const std::string& id, const std::string& method, const std::string& params) {
        return connection->post_request(protocol::parse_message(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" +
                                                                method + R"(","params":)" + params + "}"));
    }
    void post(const std::string& text) { connection->post(protocol::parse_message(text), text); }
    void initialize() {
        const Stream begun = request(
            "0", "initialize",
            R"({"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"0"}})");
        CHECK(taken(begun).size() == 1);
    }
    // All that has come.
    std::vector<Json> taken(const Stream& stream) {
        std::vector<Json> all;
        while (const std::optional<std::string> message = connection->take(*stream)) {
            all.push_back(Json::parse(*message));
        }
        return all;
    }
    FakeClock clock;
    Record record;
    std::shared_ptr<mcp::PostedConnection> connection = std::make_shared<mcp::PostedConnection>();
    mcp::Server server{connection, mcp::ServerDescription{{"s", "1"}, ""}, test_tools(&record), clock};
    TaskScope scope;
};

std::string echo_with_progress(const std::string& token) {
    return R"({"name":"echo","arguments":{"text":"hi"},"_meta":{"progressToken":)" + token + "}}";
}

} // namespace

TEST_CASE("each request has its own messages, and its own id in the answer") {
    PostedFixture fixture;
    fixture.initialize();
    const Stream first = fixture.request(R"("a")", "tools/call", echo_with_progress("1"));
    const Stream second = fixture.request("7", "tools/call", echo_with_progress("2"));
    for (const auto& [stream, id, token] : {std::tuple{first, Json("a"), 1}, std::tuple{second, Json(7), 2}}) {
        const std::vector<Json> messages = fixture.taken(stream);
        REQUIRE(messages.size() == 2);
        CHECK(messages[0]["params"]["progressToken"] == token);
        CHECK(messages[1]["id"] == id);
        CHECK(stream->ended);
    }
    CHECK(fixture.connection->queued_bytes() == 0);
}

TEST_CASE("clients that share a server may use the same ids") {
    PostedFixture fixture;
    const Stream one = fixture.request("1", "tools/call", call("hold"));
    const Stream two = fixture.request("1", "tools/list", "{" + modern_meta + "}");
    CHECK_FALSE(one->ended);
    CHECK(fixture.taken(two).at(0)["result"].contains("tools"));
    fixture.record.release.set();
    CHECK(text_of(fixture.taken(one).at(0)) == "released");
}

TEST_CASE("a question goes to the stream of its call, and its answer comes back") {
    PostedFixture fixture;
    fixture.initialize();
    const Stream held = fixture.request("1", "tools/call", R"({"name":"hold"})");
    const Stream asking = fixture.request("2", "tools/call", R"({"name":"ask"})");
    CHECK(fixture.taken(held).empty());
    const Json question = fixture.taken(asking).at(0);
    CHECK(question["method"] == "elicitation/create");
    fixture.post(R"({"jsonrpc":"2.0","id":)" + question["id"].dump() +
                 R"(,"result":{"action":"accept","content":{"allow":true}}})");
    CHECK(text_of(fixture.taken(asking).at(0)) == "yes");
}

TEST_CASE("a question of a call whose client is gone is not waited for") {
    PostedFixture fixture;
    fixture.initialize();
    const Stream asking = fixture.request("2", "tools/call", R"({"name":"swap"})");
    fixture.connection->drop(asking, false);
    CHECK(fixture.record.cancelled == 0); // its call goes on
    fixture.record.release.set();
    CHECK(fixture.record.calls == 1);
    CHECK_FALSE(fixture.connection->is_awaited());
}

TEST_CASE("a withdrawn question is withdrawn where it was put") {
    PostedFixture fixture;
    fixture.initialize();
    const Stream asking = fixture.request("2", "tools/call", R"({"name":"swap"})");
    fixture.request("3", "tools/call", echo_with_progress("1"));
    CHECK(fixture.taken(asking).at(0)["method"] == "elicitation/create");
    fixture.record.release.set();
    const std::vector<Json> then = fixture.taken(asking);
    REQUIRE(then.size() == 2);
    CHECK(then[0]["params"]["message"] == "delete all?");
    CHECK(then[1]["method"] == "notifications/cancelled");
}

TEST_CASE("a client cancels by its own id, and so does the end of a stream that says so") {
    for (const bool by_message : {true, false}) {
        PostedFixture fixture;
        fixture.initialize();
        const Stream held = fixture.request("41", "tools/call", R"({"name":"hold"})");
        if (by_message) {
            fixture.post(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":40}})");
            CHECK(fixture.record.cancelled == 0);
            fixture.post(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":41}})");
        } else {
            fixture.connection->drop(held, true);
        }
        CHECK(fixture.record.cancelled == 1);
        CHECK(held->ended);
        CHECK(fixture.taken(held).empty());
    }
}

TEST_CASE("the end of the connection ends what is under way") {
    PostedFixture fixture;
    fixture.initialize();
    const Stream held = fixture.request("1", "tools/call", R"({"name":"hold"})");
    fixture.connection->close();
    CHECK(held->ended);
    CHECK(fixture.record.cancelled == 1);
    CHECK(fixture.request("2", "ping", "{}")->ended);
}
