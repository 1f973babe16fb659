#include "mcp/web_address.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::mcp;

TEST_CASE("a URL has an origin, a path and a query") {
    const auto address = parse_web_address("https://Example.org:8443/a/b?c=d");
    REQUIRE(address);
    CHECK(address->secure);
    CHECK(address->endpoint == Endpoint{{"example.org", false}, 8443});
    CHECK(address->origin == "https://Example.org:8443");
    CHECK(address->path == "/a/b");
    CHECK(address->query == "?c=d");
    CHECK(parse_web_address("http://example.org")->endpoint.port == 80);
    CHECK(parse_web_address("https://example.org?a")->path.empty());
}

TEST_CASE("what two readers could take for different hosts is no URL") {
    for (const char* url : {"ftp://example.org/", "https:example.org", "https://", "https://user@example.org/",
                            "https://example.org\\@evil.example/", "https://exa mple.org/", "https://example.org/#a",
                            "https://0x7f000001/", "https://127.1/", "https://2130706433/", "https://[::1%25lo]/",
                            "https://example.org:99999/", "https://ex\xc3\xa4mple.org/", "https://example.org/\n"}) {
        CAPTURE(url);
        CHECK_FALSE(parse_web_address(url));
    }
    CHECK_FALSE(parse_web_address("https://example.org/" + std::string(5000, 'a')));
}

TEST_CASE("an origin is its scheme, host and port") {
    const auto same = [](const char* a, const char* b) {
        return same_origin(parse_web_address(a).value(), parse_web_address(b).value());
    };
    CHECK(same("https://example.org/a", "https://EXAMPLE.org:443/b"));
    CHECK_FALSE(same("https://example.org", "http://example.org"));
    CHECK_FALSE(same("https://example.org", "https://example.org:444"));
    CHECK_FALSE(same("https://example.org", "https://example.org.evil.example"));
}

TEST_CASE("this machine is known by its spelling") {
    for (const char* url : {"http://localhost:80", "http://a.localhost", "http://127.0.0.1", "http://127.9.9.9",
                            "http://[::1]", "http://[::ffff:127.0.0.1]"}) {
        CAPTURE(url);
        CHECK(is_loopback(parse_web_address(url).value()));
    }
    for (const char* url : {"http://localhost.example", "http://10.0.0.1", "http://example.org"}) {
        CAPTURE(url);
        CHECK_FALSE(is_loopback(parse_web_address(url).value()));
    }
}

TEST_CASE("forms are written and read") {
    const FormFields fields = {{"a b", "c&d=é"}, {"empty", ""}};
    CHECK(encode_form(fields) == "a%20b=c%26d%3D%C3%A9&empty=");
    CHECK(decode_form(encode_form(fields)) == fields);
    CHECK(decode_form("a=1+2&b")->at(0).second == "1 2");
    CHECK(decode_form("")->empty());
    for (const char* broken : {"a=%", "a=%4", "a=%zz", "%"}) {
        CAPTURE(broken);
        CHECK_FALSE(decode_form(broken));
    }
    CHECK(with_query("https://example.org/a", {{"b", "c"}}) == "https://example.org/a?b=c");
    CHECK(with_query("https://example.org/a?x=y", {{"b", "c"}}) == "https://example.org/a?x=y&b=c");
}

TEST_CASE("base64 of URLs has no padding and two other characters") {
    CHECK(encode_base64url("\xfb\xff") == "-_8");
    CHECK(encode_base64url("abc") == "YWJj");
}
