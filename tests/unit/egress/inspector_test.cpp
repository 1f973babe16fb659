#include "base/error.hpp"
#include "hello.hpp"
#include "inspector.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::egress;
using namespace egress_test;

namespace {

const Endpoint example{Host{"example.org"}, 443};

// What comes out when `bytes` go in, in pieces of `size`.
std::string passed(const Endpoint& endpoint, const std::string& bytes, std::size_t size = 1 << 20) {
    Inspector inspector(endpoint);
    std::string out;
    for (std::size_t at = 0; at < bytes.size() && !inspector.ended(); at += size) {
        out += inspector.pass(std::string_view(bytes).substr(at, size));
    }
    return out;
}

} // namespace

TEST_CASE("TLS passes if it asks for the tunnel's host, and nothing before that is known") {
    const std::string hello = client_hello("Example.org");
    for (const std::size_t size : {std::size_t{1}, std::size_t{50}, std::size_t{1000}}) {
        CHECK(passed(example, hello + "the rest", size) == hello + "the rest");
    }
    CHECK(passed(example, hello.substr(0, hello.size() - 1)).empty());
    CHECK_THROWS_AS(passed(example, client_hello("evil.example"), 1), Error);
    CHECK_THROWS_AS(passed(example, client_hello("www.example.org")), Error);
    CHECK_THROWS_AS(passed(example, record(hello_message(extension(43, "x")))), Error); // for no host
    CHECK_THROWS_AS(passed(example, client_hello(std::string("example.org\0", 12))), Error);
}

TEST_CASE("TLS to an address may ask for no name, and for no other one") {
    const Endpoint address{Host{"93.184.215.14", true}, 443};
    const std::string nameless = record(hello_message(extension(43, "x")));
    CHECK(passed(address, nameless) == nameless);
    CHECK_THROWS_AS(passed(address, client_hello("evil.example")), Error);
}

TEST_CASE("HTTP in a tunnel asks the tunnel's host, once") {
    const Endpoint plain{Host{"example.org"}, 8080};
    const std::string request = "GET /a HTTP/1.1\r\nHost: example.org:8080\r\n\r\n";
    const std::string out = "GET /a HTTP/1.1\r\nhost: example.org:8080\r\nconnection: close\r\n\r\n";
    for (const std::size_t size : {std::size_t{1}, std::size_t{1000}}) {
        CHECK(passed(plain, request, size) == out);
        CHECK(passed(plain, request + "GET /b HTTP/1.1\r\nHost: evil.example\r\n\r\n", size) == out);
    }
    CHECK(passed(plain, "GET /a HTTP/1.1\r\nHost: example.org\r\n\r\n") == out);
    for (const std::string& text :
         {std::string("GET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n"), std::string("GET /a HTTP/1.1\r\n\r\n"),
          std::string("GET /a HTTP/1.1\r\nHost: example.org:81\r\n\r\n"),
          std::string("GET http://evil.example/ HTTP/1.1\r\nHost: example.org\r\n\r\n"),
          std::string("\r\nGET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
          std::string("GET /a http/1.1\r\nHost: evil.example\r\n\r\n"), std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),

          std::string("GET /hello\r\nHost: evil.example\r\n\r\n"),
          std::string("GET /h\xc3\xa9 HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
          std::string("\x0cGET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
          std::string("\xef\xbb\xbfGET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
          std::string("GET /a HTTQ/1.1\r\nHost: evil.example\r\n\r\n"),
          std::string("GET /a\0b HTTP/1.1\r\nHost: evil.example\r\n\r\n", 41),
          std::string("GET\t/a HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "GET /" + std::string(100'000, 'A')}) {
        CAPTURE(text.substr(0, 100));
        CHECK_THROWS_AS(passed(plain, text), Error);
    }
}

TEST_CASE("protocols that name no host pass as they are") {
    const Endpoint other{Host{"example.org"}, 22};
    for (const std::string& text :
         {std::string("SSH-2.0-client\r\nmore"), std::string("\0\0\0\x08\x04", 5), std::string("*1\r\n$4\r\nPING\r\n"),
          std::string("PING\r\n"), std::string(1000, 'A'), std::string("\xff\xfe")}) {
        CAPTURE(text);
        CHECK(passed(other, text, 1) == text);
    }
}
