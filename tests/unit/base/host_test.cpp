#include "base/host.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cellgate;

namespace {

std::string host(std::string_view text) {
    const std::optional<Host> found = parse_host(text);
    return !found ? "none" : found->is_address ? "address " + found->name : found->name;
}

std::string endpoint(std::string_view text) {
    const std::optional<Endpoint> found = parse_endpoint(text, 443);
    return found ? to_string(*found) : "none";
}

bool matches(std::string_view pattern, std::string_view text) {
    const std::optional<HostPattern> found = parse_host_pattern(pattern);
    REQUIRE(found);
    return covers(*found, parse_endpoint(text, 443).value());
}

} // namespace

TEST_CASE("a host has one spelling") {
    CHECK(host("Example.ORG.") == "example.org");
    CHECK(host("xn--bcher-kva.example") == "xn--bcher-kva.example");
    CHECK(host("localhost") == "localhost");
    CHECK(host("_dmarc.example.org") == "_dmarc.example.org");
    CHECK(host("192.0.2.1") == "address 192.0.2.1");
    CHECK(host("2001:DB8:0::1") == "address 2001:db8::1");
    CHECK(host("[2001:db8::1]") == "address 2001:db8::1");
    CHECK(host("::ffff:127.0.0.1") == "address 127.0.0.1");
    CHECK(host("[::ffff:7f00:1]") == "address 127.0.0.1");
}

TEST_CASE("what could be read in several ways is no host") {
    const std::string nul("evil.example\0.example.org", 25);
    for (const std::string& text : {std::string(),
                                    std::string("."),
                                    std::string("a..b"),
                                    std::string(".example.org"),
                                    std::string("example.org.."),
                                    nul,
                                    std::string("evil.example%00.example.org"),
                                    std::string("a\r\nHost: b"),
                                    std::string("user@example.org"),
                                    std::string("::1%lo"),
                                    std::string("fe80::1%25eth0"),
                                    std::string("::1%x.example.org"),
                                    std::string("[::1"),
                                    std::string("::1]"),
                                    std::string("0x7f000001"),
                                    std::string("2130706433"),
                                    std::string("127.1"),
                                    std::string("0177.0.0.1"),
                                    std::string("127.0.0.01"),
                                    std::string("1.2.3.4.5"),
                                    std::string("256.0.0.1"),
                                    std::string("example.0x1"),
                                    std::string("b\xc3\xbc"
                                                "cher.example"),
                                    std::string("a b.example"),
                                    std::string("-a.example"),
                                    std::string("a/b"),
                                    std::string("*.example.org"),
                                    std::string(64, 'a') + ".example",
                                    std::string(300, 'a')}) {
        CAPTURE(text);
        CHECK(host(text) == "none");
    }
}

TEST_CASE("an endpoint is a host and a port") {
    CHECK(endpoint("Example.org") == "example.org:443");
    CHECK(endpoint("example.org:8080") == "example.org:8080");
    CHECK(endpoint("[::1]:80") == "[::1]:80");
    CHECK(endpoint("::1") == "[::1]:443");
    for (const char* text : {"example.org:", "example.org:0", "example.org:65536", "example.org:080000",
                             "example.org:8o", "example.org:-1", ":80", "[::1]80", "[::1]:", "a:b:c"}) {
        CAPTURE(text);
        CHECK(endpoint(text) == "none");
    }
    CHECK(!parse_endpoint("example.org", std::nullopt));
}

TEST_CASE("a pattern covers a host, or the hosts below it, and nothing beside") {
    CHECK(matches("example.org", "EXAMPLE.org."));
    CHECK(!matches("example.org", "www.example.org"));
    CHECK(matches("*.Example.org", "www.example.org"));
    CHECK(matches("*.example.org", "a.b.example.org:80"));
    CHECK(!matches("*.example.org", "example.org"));
    CHECK(!matches("*.example.org", "evil-example.org"));
    CHECK(!matches("*.example.org", "www.example.org.evil.example"));
    CHECK(matches("example.org:443", "example.org"));
    CHECK(!matches("example.org:443", "example.org:80"));
    CHECK(matches("127.0.0.1:8000", "127.0.0.1:8000"));
    CHECK(matches("[::1]", "::1"));
    CHECK(!matches("127.0.0.1", "127.0.0.2"));
}

TEST_CASE("a pattern that would cover a top-level domain is none") {
    for (const char* text :
         {"*", "*.org", "*.", "*.*.org", "a*.example.org", "*.192.0.2.1", "example.org/x", "http://example.org", ""}) {
        CAPTURE(text);
        CHECK(!parse_host_pattern(text));
    }
}
