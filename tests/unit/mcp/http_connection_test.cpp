// The client over Streamable HTTP, with a server of its own process: tests/fixtures/mcp_http_server.py.

#include "async/process.hpp"
#include "mcp/client.hpp"
#include "mcp/http_connection.hpp"
#include "mcp/request_not_taken.hpp"
#include "mcp/sse_connection.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <optional>

using namespace cellgate;
using namespace cellgate::mcp;

namespace {

using namespace std::chrono_literals;

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

struct KeepProgress final : CallFollower {
    explicit KeepProgress(std::vector<std::string>& kept_) : kept(kept_) {}
    bool wants_progress() const override { return true; }
    void on_progress(const CallProgress& each) override {
        kept.push_back(fmt::format("{} of {}: {}", each.progress, each.total.value_or(0), each.message.value_or("")));
    }
    Task<ElicitationAnswer> ask(ElicitationQuestion) override { co_return ElicitationAnswer{}; }

    std::vector<std::string>& kept;
};

struct Fixture {
    Fixture() {
        async::Command command;
        command.argv = {"/usr/bin/python3", "-B", CELLGATE_FIXTURES "/mcp_http_server.py"};
        command.environment = {{"PATH", "/usr/bin:/bin"}};
        process = async::start_process(loop, std::move(command));
    }

    void run(const std::string& path, Task<void> (*scene)(Fixture*)) { loop.run(whole(path, scene)); }
    Task<void> whole(std::string path, Task<void> (*scene)(Fixture*)) {
        async::HttpClient http(loop);
        HttpEndpoint endpoint;
        const std::string port = co_await line();
        endpoint.url = fmt::format("http://127.0.0.1:{}{}", port, path);
        endpoint.fields = {{"X-Key", "a key"}};
        if (path == "/sse") {
            connection = std::make_shared<SseConnection>(http, std::move(endpoint));
        } else {
            connection = std::make_shared<HttpConnection>(http, loop.clock(), std::move(endpoint));
        }
        Implementation ourselves{"cellgate", "0"};
        const Instant deadline = loop.clock().now() + 30s;
        client = co_await Client::connect(connection, std::move(ourselves), loop.clock(), deadline);
        std::exception_ptr error;
        try {
            co_await scene(this);
        } catch (...) {
            error = std::current_exception();
        }
        co_await client->close();
        co_await connection->end();
        process->stdio().write("\n");
        std::string all;
        co_await read_requests(std::move(all));
        co_await process->stop(2s);
        if (error) {
            std::rethrow_exception(error);
        }
    }

    Task<std::string> line() {
        std::size_t end = said.find('\n');
        while (end == std::string::npos) {
            const std::string bytes = co_await process->stdio().read();
            if (bytes.empty()) {
                co_return "";
            }
            said += bytes;
            end = said.find('\n');
        }
        std::string line = said.substr(0, end);
        said.erase(0, end + 1);
        co_return line;
    }
    // Until one has `part` in it; without it, all.
    Task<Json> read_requests(std::string part) {
        std::string text = co_await line();
        while (!text.empty()) {
            requests.push_back(Json::parse(text));
            if (!part.empty() && has(text, part)) {
                co_return requests.back();
            }
            text = co_await line();
        }
        co_return Json();
    }
    std::size_t count(const std::string& part) const {
        return static_cast<std::size_t>(std::count_if(requests.begin(), requests.end(),
                                                      [&part](const Json& each) { return has(each.dump(), part); }));
    }

    // "content", or what is wrong.
    Task<std::string> call(std::string with = "{}") {
        try {
            std::string tool = "täg";
            RawJson arguments = RawJson::checked(std::move(with));
            std::shared_ptr<CallFollower> follower = std::make_shared<KeepProgress>(progress);
            const protocol::CallToolResult result =
                co_await client->call_tool(std::move(tool), std::move(arguments), std::move(follower));
            co_return result.content.text();
        } catch (const RequestNotTaken& error) {
            co_return "not taken: " + error.message;
        } catch (const Error& error) {
            co_return error.hint.empty() ? error.message : error.message + ". " + error.hint;
        }
    }

    async::Loop loop;
    std::unique_ptr<async::Process> process;
    std::string said;
    std::vector<Json> requests; // that the server got
    std::shared_ptr<HttpTransport> connection;
    std::vector<std::string> progress; // of the calls
    std::shared_ptr<Client> client;
};

Task<void> lists_and_calls(Fixture* fixture) {
    const Instant deadline = fixture->loop.clock().now() + 30s;
    const ToolList list = co_await fixture->client->list_tools(deadline);
    REQUIRE(list.tools.size() == 1);
    CHECK(co_await fixture->call() == "[]");
}

Task<void> lists_and_calls_with_arguments(Fixture* fixture) {
    const Instant deadline = fixture->loop.clock().now() + 30s;
    co_await fixture->client->list_tools(deadline);
    for (std::string arguments : {R"({"where":{"region":"Zürich"},"count":3})", R"({"where":{"region":null}})"}) {
        CHECK(co_await fixture->call(std::move(arguments)) == "[]");
    }
}

Task<void> calls(Fixture* fixture) {
    CHECK(co_await fixture->call() == "[]");
}

Task<void> notified(Fixture* fixture) {
    CHECK(co_await fixture->call() == "[]");
    while (!fixture->client->take_tools_changed()) { // or the test does not end
        co_await fixture->loop.yield();
    }
}

Task<void> cut(Fixture* fixture) {
    const std::string answer = co_await fixture->call();
    CHECK_MESSAGE(
        has(answer, "the connection ended before tools/call was answered. Whether it was carried out is not known."),
        answer);
    CHECK_FALSE(fixture->client->is_closed());
}

Task<void> silent(Fixture* fixture) {
    CHECK(has(co_await fixture->call(), "answered tools/call with HTTP 202 and no message"));
}

Task<void> gone(Fixture* fixture) {
    CHECK(has(co_await fixture->call(), "not taken: the server has ended the session"));
    CHECK(fixture->client->is_closed());
}

Task<void> moved(Fixture* fixture) {
    CHECK(has(co_await fixture->call(), "the server redirects to http://elsewhere.invalid/mcp, which is not followed"));
}

Task<void> broken(Fixture* fixture) {
    const std::string answer = co_await fixture->call();
    CHECK_MESSAGE(has(answer, "HTTP 500 Internal Server Error: out of \\x1b[31mpaper"), answer);
    CHECK_FALSE(fixture->client->is_closed());
}

Task<void> cancelled(Fixture* fixture) {
    TaskScope tasks;
    std::string answer;
    const auto keep = [](std::string* kept, Fixture* from) -> Task<void> { *kept = co_await from->call(); };
    const std::shared_ptr<CancelState> task = tasks.spawn(keep(&answer, fixture));
    std::string method = "tools/call";
    co_await fixture->read_requests(std::move(method));
    task->cancel();
    co_await tasks.join();
    method = "notifications/cancelled";
    const Json told = co_await fixture->read_requests(std::move(method));
    CHECK(told["body"]["params"]["requestId"].is_number());
}

} // namespace

TEST_CASE("a legacy server is spoken to in its session, with the version that was agreed on, until that is ended") {
    Fixture fixture;
    fixture.run("/json", lists_and_calls);
    CHECK(fixture.client->era() == Era::legacy);
    REQUIRE(fixture.count("tools/call") == 1);
    for (const Json& each : fixture.requests) {
        CAPTURE(each.dump());
        const Json& fields = each["fields"];
        CHECK(fields["x-key"] == "a key");
        const std::string method = each["body"].is_object() ? each["body"].value("method", "") : "";
        const bool before = method == "server/discover" || method == "initialize";
        CHECK(fields.contains("mcp-session-id") != before);
        CHECK(fields.value("mcp-protocol-version", "none") == (method == "server/discover" ? "2026-07-28"
                                                               : before                    ? "none"
                                                                                           : "2025-06-18"));
    }
    CHECK(fixture.requests.back()["method"] == "DELETE");
    CHECK(fixture.requests.back()["fields"]["mcp-session-id"] == "session-1");
}

TEST_CASE("a modern server gets what intermediaries read in fields, and has no session") {
    Fixture fixture;
    fixture.run("/modern", lists_and_calls);
    CHECK(fixture.client->era() == Era::modern);
    for (const Json& each : fixture.requests) {
        CHECK(each["method"] == "POST");
        CHECK(each["fields"]["mcp-protocol-version"] == "2026-07-28");
        CHECK(each["fields"]["mcp-method"] == each["body"]["method"]);
        CHECK_FALSE(each["fields"].contains("mcp-session-id"));
        CHECK(each["fields"].contains("mcp-name") == (each["body"]["method"] == "tools/call"));
    }
    CHECK(fixture.count("=?base64?dMOkZw==?=") == 1);
}

TEST_CASE("arguments that a modern server wants in fields are sent in fields as well") {
    Fixture fixture;
    fixture.run("/modern", lists_and_calls_with_arguments);
    std::vector<Json> fields;
    for (const Json& each : fixture.requests) {
        if (each["body"]["method"] == "tools/call") {
            fields.push_back(each["fields"]);
        }
    }
    REQUIRE(fields.size() == 2);
    CHECK(fields[0]["mcp-param-region"] == "=?base64?WsO8cmljaA==?=");
    CHECK(fields[0]["mcp-param-count"] == "3");
    CHECK_FALSE(fields[1].contains("mcp-param-region"));
    CHECK_FALSE(fields[1].contains("mcp-param-count"));
}

TEST_CASE("how far a call is reaches its caller, and that of no other call") {
    Fixture fixture;
    fixture.run("/progress", calls);
    CHECK(fixture.progress == std::vector<std::string>{"2 of 5: reading\x1b[31m"});
}

TEST_CASE("over HTTP+SSE, messages go where the server says, and its stream has the answers") {
    Fixture fixture;
    fixture.run("/sse", lists_and_calls);
    CHECK(fixture.client->protocol_version() == "2024-11-05");
    CHECK(fixture.count("tools/call") == 1);
    for (const Json& each : fixture.requests) {
        CHECK(each["path"] == (each["method"] == "GET" ? "/sse" : "/messages?of=1"));
        CHECK(each["fields"]["x-key"] == "a key");
    }
}

TEST_CASE("messages go to the origin of the stream alone, however its server names where they go") {
    const std::string url = "https://a.example:8443/mcp/sse?x=/y";
    CHECK(same_origin_url(url, "/messages?id=1") == "https://a.example:8443/messages?id=1");
    CHECK(same_origin_url(url, "messages") == "https://a.example:8443/mcp/messages");
    CHECK(same_origin_url(url, "https://a.example:8443/m") == "https://a.example:8443/m");
    CHECK(same_origin_url("http://a.example", "messages") == "http://a.example/messages");
    for (const char* elsewhere : {"https://b.example/m", "//b.example/m", "https://a.example:8443.b.example/m",
                                  "http://a.example:8443/m", "https://a.example/m"}) {
        CHECK_THROWS_AS(same_origin_url(url, elsewhere), Error);
    }
}

TEST_CASE("an answer may come as events, and what the server sends by itself as well") {
    Fixture fixture;
    fixture.run("/events", notified);
    CHECK(fixture.count("\"GET\"") >= 1);
}

TEST_CASE("a stream that ends before its answer is resumed where the server left off") {
    Fixture fixture;
    fixture.run("/resumed", calls);
    CHECK(fixture.count("last-event-id\":\"stream-") == 1);
    CHECK(fixture.count("tools/call") == 1); // never twice
}

TEST_CASE("a request that the server refuses for now is sent again when it says") {
    Fixture fixture;
    fixture.run("/busy", calls);
    CHECK(fixture.count("tools/call") == 3);
}

TEST_CASE("what goes wrong with a call is reported, and no call is made twice") {
    const std::pair<const char*, Task<void> (*)(Fixture*)> cases[] = {
        {"/cut", cut}, {"/silent", silent}, {"/gone", gone}, {"/moved", moved}, {"/broken", broken}};
    for (const auto& [path, scene] : cases) {
        CAPTURE(path);
        Fixture fixture;
        fixture.run(path, scene);
        CHECK(fixture.count("tools/call") == 1);
    }
}

TEST_CASE("cancelling a call tells a legacy server") {
    Fixture fixture;
    fixture.run("/hang", cancelled);
}
