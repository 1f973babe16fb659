// The parts of a request that is judged by itself, and of its answer.
#include "base/error.hpp"
#include "injection.hpp"
#include "message_body.hpp"
#include "request_action.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::egress;

namespace {

using protocol::Injection;
using protocol::InjectionAs;

ResponseHead response(const std::string& fields, const std::string& line = "HTTP/1.1 200 OK") {
    return parse_response_head(line + "\r\n" + fields + "\r\n");
}

// The content that comes in pieces of `size`; "…" when it has not ended.
std::string content_of(const ResponseHead& head, const std::string& bytes, std::size_t size) {
    MessageBody body(head, "GET");
    std::string content;
    for (std::size_t at = 0; at < bytes.size() && !body.ended(); at += size) {
        body.take(std::string_view(bytes).substr(at, size), &content);
    }
    return content + (body.ended() ? "" : "…");
}

Injection injection(InjectionAs as, std::optional<std::string> name = {}) {
    Injection made;
    made.as = as;
    made.name = std::move(name);
    made.value = as == InjectionAs::basic ? "ada:${secret:KEY}" : "${secret:KEY}";
    return made;
}

// As the server gets it.
std::string injected(const std::string& text, const Injection& injection, const std::string& value) {
    RequestToJudge request;
    request.head = parse_head(text);
    const ClearedPlaces cleared = clear_places(request, {injection});
    inject(request, "h", cleared, {injection}, {{"KEY", value}});
    return to_text(request.head);
}

} // namespace

TEST_CASE("a response's head is read") {
    const ResponseHead head = response("A:  b \r\n", "HTTP/1.0 404 Not  Found");
    CHECK(head.minor_version == 0);
    CHECK(head.status == 404);
    CHECK(head.reason == "Not  Found");
    CHECK(head.single("a") == "b");
    CHECK(response("", "HTTP/1.1 200").reason.empty());
    CHECK(to_text(response("A: b\r\n", "HTTP/1.0 200 OK")) == "HTTP/1.1 200 OK\r\na: b\r\n\r\n");
}

TEST_CASE("a response that is none is refused") {
    for (const std::string line : {"HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 2x0 OK", "HTTP/1.1 099 OK",
                                   "HTTP/2 200 OK", "HTTP/1.1200 OK", "<html>", "ICY 200 OK", "HTTP/1.1 200\tOK"}) {
        CAPTURE(line);
        CHECK_THROWS_AS(response("", line), Error);
    }
    for (const std::string fields : {"A : b\r\n", "A: b\n c: d\r\n", " folded\r\n", "no colon\r\n"}) {
        CAPTURE(fields);
        CHECK_THROWS_AS(response(fields), Error);
    }
}

TEST_CASE("the content of a response comes out, in pieces of any size") {
    const std::string chunks = "3;x=y\r\nabc\r\n0a\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n";
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{1000}}) {
        CAPTURE(size);
        CHECK(content_of(response("Content-Length: 5\r\n"), "12345HTTP/1.1", size) == "12345");
        CHECK(content_of(response("Transfer-Encoding: chunked\r\n"), chunks + "HTTP/1.1", size) == "abc0123456789");
        CHECK(content_of(response(""), "to the end", size) == "to the end…");
    }
}

TEST_CASE("the answer to some requests has no body, whatever its length says") {
    const std::string length = "Content-Length: 5\r\n";
    CHECK(MessageBody(response(length), "HEAD").ended());
    CHECK(MessageBody(response(length, "HTTP/1.1 204 No Content"), "GET").ended());
    CHECK(MessageBody(response(length, "HTTP/1.1 304 Not Modified"), "GET").ended());
    CHECK(!MessageBody(response(length), "GET").ended());
    CHECK(MessageBody(response(""), "GET").ends_with_connection());
    for (const std::string fields :
         {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Content-Length: -1\r\n",
          "Content-Length: 5\r\nContent-Length: 5\r\n", "Transfer-Encoding: gzip, chunked\r\n"}) {
        CAPTURE(fields);
        CHECK_THROWS_AS(MessageBody(response(fields), "GET"), Error);
    }
    CHECK_THROWS_AS(MessageBody(response("Transfer-Encoding: chunked\r\n", "HTTP/1.0 200 OK"), "GET"), Error);
}

TEST_CASE("what concerns one connection is removed, but not the length") {
    ResponseHead head = response("Connection: close, x-mine, content-length\r\nX-Mine: a\r\nContent-Length: 1\r\n"
                                 "Keep-Alive: timeout=5\r\nUpgrade: h2c\r\nX-Other: b\r\n");
    head.erase_hop_by_hop();
    CHECK(to_text(head) == "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nx-other: b\r\n\r\n");
}

TEST_CASE("servers may take two names of a field for one") {
    CHECK(is_one_field("x-http-method", "x_http_method"));
    CHECK(is_one_field("x-key", "x-key"));
    CHECK(!is_one_field("x-key", "x-key-2"));
    CHECK(!is_one_field("x-key", "x.key"));
}

TEST_CASE("a secret takes the place of what was sent there") {
    CHECK(injected("GET /a HTTP/1.1\r\nAuthorization: Bearer mine\r\nAUTHORIZATION: b\r\nA: b\r\n\r\n",
                   injection(InjectionAs::bearer),
                   "v") == "GET /a HTTP/1.1\r\na: b\r\nauthorization: Bearer v\r\n\r\n");
    CHECK(injected("GET /a HTTP/1.1\r\n\r\n", injection(InjectionAs::basic), "v") ==
          "GET /a HTTP/1.1\r\nauthorization: Basic YWRhOnY=\r\n\r\n");
    CHECK(injected("GET /a HTTP/1.1\r\nx-key: 1\r\nX_KEY: 2\r\n\r\n", injection(InjectionAs::header, "X-Key"), "v") ==
          "GET /a HTTP/1.1\r\nx-key: v\r\n\r\n");
}

TEST_CASE("a secret takes the place of a parameter in each of its spellings") {
    const Injection key = injection(InjectionAs::query, "key");
    const auto target = [&key](const std::string& sent) {
        const std::string text = injected("GET " + sent + " HTTP/1.1\r\n\r\n", key, "a b&c");
        return text.substr(4, text.find(" HTTP") - 4);
    };
    CHECK(target("/a") == "/a?key=a%20b%26c");
    CHECK(target("/a?key=1") == "/a?key=a%20b%26c");
    CHECK(target("/a?b=1&key=2&%6bey=3&%6B%65%79&c") == "/a?b=1&c&key=a%20b%26c");
    CHECK(target("/a?Key=1&keys=2&%6=3&%zz=4&%6bey%=5") == "/a?Key=1&keys=2&%6=3&%zz=4&%6bey%=5&key=a%20b%26c");
}

TEST_CASE("a value that would end a header is refused") {
    CHECK_THROWS_AS(injected("GET /a HTTP/1.1\r\n\r\n", injection(InjectionAs::bearer), "a\r\nb: c"), Error);
    CHECK_THROWS_AS(injected("GET /a HTTP/1.1\r\n\r\n", injection(InjectionAs::bearer), std::string("a\0b", 3)), Error);
}

TEST_CASE("a request is judged by what the server reads of it") {
    RequestToJudge request;
    request.head = parse_head("POST /a/b?c=d HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nA: b\r\n\r\n");
    request.body = "abc";
    request.length = 3;
    const gate::HttpRequest action = request_action(*parse_endpoint("h:443", std::nullopt), true, request);
    CHECK(action.method == "POST");
    CHECK(action.path == "/a/b");
    CHECK(action.query == "c=d");
    CHECK(action.body == "abc");
    CHECK(action.request_headers == std::vector<std::string>{"a: b"});
    request.body = std::string("\0\xff", 2);
    request.opens_web_socket = true;
    const gate::HttpRequest other = request_action(*parse_endpoint("h:443", std::nullopt), true, request);
    CHECK(other.method == "WEBSOCKET");
    CHECK(!other.body);
    CHECK(other.body_sha256);
}

TEST_CASE("the form of a request describes it") {
    RequestToJudge request;
    request.head = parse_head("POST /a?b HTTP/1.1\r\nHost: h\r\nA: \"b\"\r\n\r\n");
    request.body = "text";
    const std::optional<RawJson> form = edit_form(request);
    REQUIRE(form);
    const RequestToJudge again = edited_request(*form);
    CHECK(again.head.method == "POST");
    CHECK(again.head.target == "/a?b");
    CHECK(again.head.single("a") == "\"b\"");
    CHECK(again.body == "text");
    for (const std::string text : {R"({"method":"G T","path":"/","headers":{},"body":""})",
                                   R"({"method":"GET","path":"a","headers":{},"body":""})",
                                   R"({"method":"GET","path":"/ b","headers":{},"body":""})",
                                   R"({"method":"GET","path":"/","headers":{"a":"b\r\nc: d"},"body":""})",
                                   R"({"method":"GET","path":"/","headers":{"a b":"c"},"body":""})",
                                   R"({"method":"GET","path":"/","headers":[],"body":""})", R"({"method":"GET"})"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(edited_request(RawJson::checked(text)), Error);
    }
}
