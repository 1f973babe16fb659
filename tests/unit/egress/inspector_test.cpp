#include "base/error.hpp"
#include "hello.hpp"
#include "inspector.hpp"

#include <doctest/doctest.h>

#include <vector>

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
    CHECK(!inspector.asks_for_raw());
    return out;
}

} // namespace

TEST_CASE("TLS passes if it asks for the tunnel's host, and nothing before that is known") {
    const std::string hello = client_hello("Example.org");
    for (const std::size_t size : {std::size_t{1}, std::size_t{50}, std::size_t{1000}}) {
        CHECK(passed(example, hello + "the rest", size) == hello + "the rest");
    }
    CHECK(passed(example, hello.substr(0, hello.size() - 1)).empty());
    // "http/1.1" among the protocols that it offers, before the extension that has the number of a carriage return.
    const std::string offers = extension(16, std::string("\0\x0c\x02h2\x08http/1.1", 14)) + extension(13, "x");
    const std::string offering = record(hello_message(server_name("example.org") + offers));
    CHECK(passed(example, offering, 1) == offering);
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

TEST_CASE("a tunnel to the loopback may be asked for any of its names") {
    const Endpoint names[] = {{Host{"localhost"}, 8000}, {Host{"127.0.0.1", true}, 8000}, {Host{"::1", true}, 8000}};
    const std::string nameless = record(hello_message(extension(43, "x")));
    for (const Endpoint& endpoint : names) {
        const std::string out = "GET / HTTP/1.1\r\nhost: " + to_string(endpoint) + "\r\nconnection: close\r\n\r\n";
        for (const Endpoint& asked : names) {
            CAPTURE(to_string(endpoint) + " " + to_string(asked));
            CHECK(passed(endpoint, "GET / HTTP/1.1\r\nHost: " + to_string(asked) + "\r\n\r\n") == out);
        }
        CHECK(passed(endpoint, nameless) == nameless);
        CHECK(passed(endpoint, client_hello("localhost")) == client_hello("localhost"));
        CHECK_THROWS_AS(passed(endpoint, client_hello("x.localhost")), Error);
        for (const char* other : {"x.localhost:8000", "localhost:8001", "127.0.0.2:8000", "example.org:8000"}) {
            CAPTURE(other);
            CHECK_THROWS_AS(passed(endpoint, std::string("GET / HTTP/1.1\r\nHost: ") + other + "\r\n\r\n"), Error);
        }
    }
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
          std::string("GET /h\xc3\xa9 HTTP/1.1\r\nHost: evil.example\r\n\r\n")}) {
        CAPTURE(text.substr(0, 100));
        CHECK_THROWS_AS(passed(plain, text), Error);
    }
}

// As a server gets it that reads over `before`, up to the head's end.
std::string request_of_other(const std::string& line, const std::string& before = "") {
    return before + line + "\r\nHost: evil.example\r\n\r\n";
}

// Nothing comes out of `bytes`: they are refused, or wait for the permission of raw bytes.
bool is_held(const Endpoint& endpoint, const std::string& bytes, std::size_t size) {
    Inspector inspector(endpoint);
    try {
        for (std::size_t at = 0; at < bytes.size(); at += size) {
            if (!inspector.pass(std::string_view(bytes).substr(at, size)).empty()) {
                return false;
            }
        }
    } catch (const Error&) {
        return true;
    }
    return inspector.asks_for_raw();
}

TEST_CASE("no spelling of a request gets out as something else") {
    const Endpoint plain{Host{"example.org"}, 8080};
    const std::string line = "GET /x HTTP/1.1";
    std::vector<std::string> texts;
    // Before it: node reads over any number of empty lines, Python over white space of Latin-1, others over a mark.
    for (const char* blank :
         {"\r\n", "\n", "\r", " ", "\t", "\v", "\f", "\x1c", "\x1f", "\x85", "\xa0", "\xef\xbb\xbf"}) {
        for (const int count : {1, 2, 8, 9, 100, 2000}) {
            std::string before;
            for (int i = 0; i < count; ++i) {
                before += blank;
            }
            texts.push_back(request_of_other(line, before));
        }
    }
    // Methods that are long, in small letters, and all that a token may be; blanks between the words, and bytes that
    // some reader takes for one; the versions that other readers take.
    const std::string marks = "!#$%&'*+-.^_`|~09az";
    for (const std::string& method :
         {std::string(25, 'A'), std::string(5000, 'A'), std::string(9000, 'A'), std::string("G_T"), std::string("get"),
          std::string("M1"), marks, std::string("SSH-2.0-x"), std::string("(GET"), std::string("\"GET\""),
          std::string("G\xc3\x89T")}) {
        texts.push_back(request_of_other(method + " /x HTTP/1.1"));
        texts.push_back(request_of_other(method + " /x ANY"));
        texts.push_back(request_of_other(method + "\t/x HTTP/1.1"));
    }
    for (const char* word :
         {"GET  /x HTTP/1.1", "GET\t/x\tHTTP/1.1", "GET\v/x HTTP/1.1", "GET\x1c/x", "GET\xa0/x HTTP/1.1",
          "GET\r/x HTTP/1.1", "GET\r/x", "GET /x\x01", "GET /x", "GET http://evil.example/", "GET /x HTTP/1.1 ",
          "GET /x HTTP/1.1\t", "GET /x HTTP/11.1", "GET /x http/1.1", "GET\x01/x HTTP/1.1", "\x01GET /x HTTP/1.1",
          "\xffGET /x HTTP/1.1", "SSH-2.0-x x HTTP/1.1"}) {
        texts.push_back(request_of_other(word));
    }
    texts.push_back(request_of_other(std::string("GET\0/x HTTP/1.1", 15)));
    texts.push_back(request_of_other(std::string("\0GET /x HTTP/1.1", 16)));
    texts.push_back("GET /x HTTP/1.1\nHost: evil.example\n\n");
    texts.push_back(std::string(9000, ' '));
    texts.push_back("GET /" + std::string(100'000, 'A'));
    texts.push_back("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    for (const std::string& text : texts) {
        CAPTURE(text.substr(0, 100));
        CHECK(is_held(plain, text, 1));
        CHECK(is_held(plain, text, text.size()));
    }
}

TEST_CASE("raw bytes wait for their permission, and then pass as they are") {
    const Endpoint other{Host{"example.org"}, 22};
    for (const std::string& text :
         {std::string("SSH-2.0-client\r\nmore"), std::string("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n\x01"),
          std::string("\0\0\0\x08\x04", 5), std::string("*1\r\n$4\r\nPING\r\n"), std::string("PING\r\n"),
          std::string("T\0\0\x01\x85\xa6", 6), std::string("1 \x01\x02", 4), std::string("AMQP\0\0\x09\x01", 8),
          std::string("\xff\xfe"), std::string("EHLO me.example\r\n"), std::string("get key\r\n")}) {
        CAPTURE(text);
        for (const std::size_t size : {std::size_t{1}, text.size()}) {
            Inspector inspector(other);
            std::size_t at = 0;
            while (at < text.size() && !inspector.asks_for_raw()) {
                CHECK(inspector.pass(std::string_view(text).substr(at, size)).empty());
                at = std::min(at + size, text.size());
            }
            REQUIRE(inspector.asks_for_raw());
            CHECK(!inspector.waits());
            CHECK(inspector.permit_raw() == text.substr(0, at));
            CHECK(!inspector.asks_for_raw());
            const std::string request = "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"; // whatever it is
            CHECK(inspector.pass(request) == request);
        }
    }
}
