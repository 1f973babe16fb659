// What a request must have to reach the server, and what a POST must have for its message.

#include "mcp/http_guard.hpp"
#include "posted_request.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::mcp;

namespace {

const std::string the_token = "0123456789abcdef";

async::ServedRequest head(async::HttpFields fields) {
    async::ServedRequest made;
    made.method = "POST";
    made.path = "/mcp";
    made.fields = std::move(fields);
    return made;
}

HttpGuard guard_at(const std::string& endpoint, bool tls = false) {
    return HttpGuard(*parse_endpoint(endpoint, std::nullopt), tls, the_token);
}

// 0: it may pass.
int judged(const HttpGuard& guard, const std::string& host, const std::string& origin, const std::string& token) {
    async::HttpFields fields = {{"host", host}, {"authorization", token}};
    if (!origin.empty()) {
        fields.emplace_back("origin", origin);
    }
    const std::optional<async::ServedReply> refusal = guard.refuse(head(std::move(fields)));
    return refusal ? refusal->status : 0;
}

const std::string bearer = "Bearer " + the_token;

} // namespace

TEST_CASE("a request names this machine as its host, with the port") {
    const HttpGuard guard = guard_at("127.0.0.1:4711");
    for (const char* own : {"127.0.0.1:4711", "localhost:4711", "LOCALHOST:4711", "[::1]:4711"}) {
        CHECK(judged(guard, own, "", bearer) == 0);
    }
    for (const char* foreign : {"evil.example:4711", "127.0.0.1", "127.0.0.1:80", "localhost.evil.example:4711", "",
                                "127.1:4711", "2130706433:4711", "127.0.0.1:4711@evil.example", "0.0.0.0:4711"}) {
        CHECK(judged(guard, foreign, "", bearer) == 403);
    }
    async::ServedRequest twice =
        head({{"host", "127.0.0.1:4711"}, {"host", "evil.example"}, {"authorization", bearer}});
    CHECK(guard.refuse(twice)->status == 403);
}

TEST_CASE("beyond this machine only the name that is served is its host") {
    const HttpGuard guard = guard_at("box.example:443", true);
    CHECK(judged(guard, "box.example", "", bearer) == 0);
    CHECK(judged(guard, "box.example:443", "https://box.example", bearer) == 0);
    CHECK(judged(guard, "localhost:443", "", bearer) == 403);
    CHECK(judged(guard, "box.example:443", "http://box.example", bearer) == 403);
}

TEST_CASE("a page of another origin is refused, also one that says null") {
    const HttpGuard guard = guard_at("127.0.0.1:4711");
    CHECK(judged(guard, "127.0.0.1:4711", "http://localhost:4711", bearer) == 0);
    for (const char* foreign : {"http://evil.example", "null", "https://127.0.0.1:4711", "http://127.0.0.1:4712",
                                "http://127.0.0.1:4711.evil.example", "file://"}) {
        CHECK(judged(guard, "127.0.0.1:4711", foreign, bearer) == 403);
    }
}

TEST_CASE("only the whole token passes, under the scheme Bearer") {
    const HttpGuard guard = guard_at("127.0.0.1:4711");
    CHECK(judged(guard, "127.0.0.1:4711", "", "bearer " + the_token) == 0);
    for (const std::string& wrong : {std::string(), std::string("Bearer "), "Basic " + the_token, the_token,
                                     bearer.substr(0, bearer.size() - 1), bearer + "0", "Bearer  " + the_token}) {
        CHECK(judged(guard, "127.0.0.1:4711", "", wrong) == 401);
    }
    async::ServedRequest twice =
        head({{"host", "127.0.0.1:4711"}, {"authorization", bearer}, {"authorization", bearer}});
    CHECK(guard.refuse(twice)->status == 401);
}

namespace {

protocol::Message request(const std::string& method, const std::string& version, const std::string& more = "") {
    const std::string meta =
        version.empty() ? "" : R"("_meta":{"io.modelcontextprotocol/protocolVersion":")" + version + "\"}";
    return protocol::parse_message(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" + more + meta +
                                   "}}");
}

// The code of the error; 0 of the legacy era, 1 of the modern one.
int posted(async::HttpFields fields, const protocol::Message& message) {
    try {
        return era_of_posted(head(std::move(fields)), message) == Era::modern ? 1 : 0;
    } catch (const Error& error) {
        return static_cast<int>(error.code);
    }
}

const std::pair<std::string, std::string> now = {"mcp-protocol-version", "2026-07-28"};

} // namespace

TEST_CASE("the version in a message is the one in its head") {
    CHECK(posted({}, request("tools/list", "")) == 0);
    CHECK(posted({{"mcp-protocol-version", "2025-06-18"}}, request("tools/list", "")) == 0);
    CHECK(posted({now, {"mcp-method", "tools/list"}}, request("tools/list", "2026-07-28")) == 1);
    CHECK(posted({{"mcp-protocol-version", "2025-01-01"}}, request("tools/list", "")) == -32022);
    CHECK(posted({{"mcp-protocol-version", "x"}}, request("tools/list", "x")) == -32022);
    CHECK(posted({now}, request("tools/list", "x")) == -32020);
    CHECK(posted({}, request("tools/list", "2026-07-28")) == -32020);
    CHECK(posted({{"mcp-protocol-version", "2025-11-25"}}, request("tools/list", "2026-07-28")) == -32020);
    CHECK(posted({now}, request("tools/list", "")) == -32602);
}

TEST_CASE("the method and the tool of a modern message are those in its head") {
    const std::string tool = R"("name":"exécute",)";
    const protocol::Message call = request("tools/call", "2026-07-28", tool);
    CHECK(posted({now, {"mcp-method", "tools/call"}, {"mcp-name", "=?base64?ZXjDqWN1dGU=?="}}, call) == 1);
    CHECK(posted({now, {"mcp-method", "tools/call"}, {"mcp-name", "exécute"}}, call) == 1);
    for (const char* other : {"execute", "=?base64?ZXjDqWN1dGU?=", "=?base64?!?=", "=?base64?="}) {
        CHECK(posted({now, {"mcp-method", "tools/call"}, {"mcp-name", other}}, call) == -32020);
    }
    CHECK(posted({now, {"mcp-method", "tools/call"}}, call) == -32020);
    CHECK(posted({now, {"mcp-name", "exécute"}}, call) == -32020);
    CHECK(posted({now, {"mcp-method", "TOOLS/LIST"}}, request("tools/list", "2026-07-28")) == -32020);
    for (const char* gone : {"initialize", "ping"}) {
        CHECK(posted({now, {"mcp-method", gone}}, request(gone, "2026-07-28")) == -32601);
    }
}

TEST_CASE("the status of an error is the modern era's; a legacy session answers with 200") {
    CHECK(http_status_of(Era::modern, -32601) == 404);
    CHECK(http_status_of(Era::modern, -32020) == 400);
    CHECK(http_status_of(Era::modern, 0) == 200);
    CHECK(http_status_of(Era::legacy, -32601) == 200);
}
