#include "base/error.hpp"
#include "http_head.hpp"
#include "message_body.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::egress;

namespace {

RequestHead with(const std::string& fields, const std::string& version = "1.1") {
    return parse_head("POST http://example.org/ HTTP/" + version + "\r\n" + fields + "\r\n");
}

// What of `bytes` belongs to the body, when it comes in pieces of `size`; "…" when it has not ended.
std::string body_of(const std::string& fields, const std::string& bytes, std::size_t size) {
    MessageBody body(with(fields));
    std::string taken;
    for (std::size_t at = 0; at < bytes.size() && !body.ended(); at += size) {
        const std::string piece = bytes.substr(at, size);
        taken += piece.substr(0, body.take(piece));
    }
    return taken + (body.ended() ? "" : "…");
}

} // namespace

TEST_CASE("a request's head is read") {
    const RequestHead head =
        parse_head("GET http://example.org/a?b HTTP/1.0\r\nHost: example.org\r\nX-A:  b c \r\n\r\n");
    CHECK(head.method == "GET");
    CHECK(head.target == "http://example.org/a?b");
    CHECK(head.minor_version == 0);
    CHECK(head.single("host") == "example.org");
    CHECK(head.single("x-a") == "b c");
    CHECK(!head.single("x-b"));
}

TEST_CASE("a head ends at its empty line and not later than its limit") {
    CHECK(!head_size("GET / HTTP/1.1\r\nHost: a\r\n"));
    CHECK(head_size("GET / HTTP/1.1\r\n\r\nmore") == 18);
    CHECK_THROWS_AS(head_size(std::string(max_head_bytes, 'x')), Error);
}

TEST_CASE("what readers of HTTP disagree about is refused") {
    for (const std::string& text :
         {std::string("GET / HTTP/1.1\nHost: a\r\n\r\n"), std::string("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"),
          std::string("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), std::string("GET / HTTP/1.1\r\nHost\r\n\r\n"),
          std::string("GET / HTTP/1.1\r\n: a\r\n\r\n"), std::string("GET / HTTP/1.1\r\nA: \0b\r\n\r\n", 25),
          std::string("GET / HTTP/1.1\r\nA: b\rc\r\n\r\n"), std::string("GET  / HTTP/1.1\r\n\r\n"),
          std::string("GET / x HTTP/1.1\r\n\r\n"), std::string("GET / HTTP/2.0\r\n\r\n"),
          std::string("GET / HTTP/1.1 \r\n\r\n"), std::string("GET /\r\n\r\n"), std::string("\r\n\r\n"),
          std::string("G\tT / HTTP/1.1\r\n\r\n"), std::string("GET /#a HTTP/1.1\r\n\r\n"),
          std::string(" GET / HTTP/1.1\r\n\r\n"), std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_head(text), Error);
    }
    CHECK_THROWS_AS(with("Host: a\r\nhost: b\r\n").single("host"), Error);
}

TEST_CASE("the server gets the request without what concerns the proxy") {
    const RequestHead head =
        with("Host: example.org\r\nConnection: keep-alive, X-Secret, content-length\r\nX-Secret: 1\r\n"
             "Proxy-Authorization: Basic x\r\nUpgrade: websocket\r\nContent-Length: 3\r\nA: b\r\n");
    CHECK(head_for_server(head, "/p", "example.org") ==
          "POST /p HTTP/1.1\r\nhost: example.org\r\ncontent-length: 3\r\na: b\r\nconnection: close\r\n\r\n");
}

TEST_CASE("a body ends where its length says, in pieces of any size") {
    const std::string chunks = "3;x=y\r\nabc\r\n0a\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n";
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{1000}}) {
        CAPTURE(size);
        CHECK(body_of("", "GET http://evil.example/ HTTP/1.1\r\n\r\n", size).empty());
        CHECK(body_of("Content-Length: 5\r\n", "12345GET /", size) == "12345");
        CHECK(body_of("Content-Length: 5\r\n", "123", size) == "123…");
        CHECK(body_of("Transfer-Encoding: chunked\r\n", chunks + "GET /", size) == chunks);
        CHECK(body_of("Transfer-Encoding: chunked\r\n", chunks.substr(0, chunks.size() - 2), size) ==
              chunks.substr(0, chunks.size() - 2) + "…");
    }
}

TEST_CASE("a body whose length can be read in two ways is refused") {
    for (const std::string& fields :
         {std::string("Content-Length: 5\r\nContent-Length: 6\r\n"), std::string("Content-Length: 5, 5\r\n"),
          std::string("Content-Length: +5\r\n"), std::string("Content-Length: 0x5\r\n"),
          std::string("Content-Length: \r\n"), std::string("Content-Length: -1\r\n"),
          std::string("Content-Length: 99999999999999999999\r\n"),
          std::string("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
          std::string("Transfer-Encoding: gzip\r\n"), std::string("Transfer-Encoding: chunked, chunked\r\n"),
          std::string("Transfer-Encoding: xchunked\r\n"),
          std::string("Transfer-Encoding: Chunked\r\nTransfer-Encoding: chunked\r\n")}) {
        CAPTURE(fields);
        CHECK_THROWS_AS(MessageBody{with(fields)}, Error);
    }
    CHECK_THROWS_AS(MessageBody{with("Transfer-Encoding: chunked\r\n", "1.0")}, Error);
    for (const std::string& chunks :
         {std::string("x\r\n"), std::string("3\nabc"), std::string("3\r\nabcd\r\n"), std::string("3\r\nabc\n"),
          std::string("\r\n"), std::string("-1\r\n"), std::string("ffffffffffffffffff\r\n"), std::string("3 \r\n"),
          std::string(5000, '1')}) {
        CAPTURE(chunks);
        CHECK_THROWS_AS(body_of("Transfer-Encoding: chunked\r\n", chunks, 1000), Error);
    }
}
