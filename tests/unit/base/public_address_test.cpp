#include "base/public_address.hpp"

#include <doctest/doctest.h>

using namespace cellgate;

namespace {

std::string_view what(const char* address) {
    return what_is_not_public(parse_host(address).value());
}

} // namespace

TEST_CASE("addresses of the public network are public") {
    for (const char* address : {"1.1.1.1",
                                "8.8.8.8",
                                "9.255.255.255",
                                "11.0.0.0",
                                "100.63.255.255",
                                "100.128.0.0",
                                "126.255.255.255",
                                "128.0.0.0",
                                "172.15.255.255",
                                "172.32.0.0",
                                "192.0.1.0",
                                "192.167.255.255",
                                "192.169.0.0",
                                "198.17.255.255",
                                "198.20.0.0",
                                "223.255.255.255",
                                "2606:4700::1111",
                                "2a00:1450::1",
                                "2001:4860:4860::8888",
                                "64:ff9b::101:101"}) {
        CAPTURE(address);
        CHECK(what(address).empty());
    }
}

TEST_CASE("addresses of this machine, of private networks and of reserved ranges are not public") {
    for (const char* address : {"0.0.0.0",
                                "0.1.2.3",
                                "10.0.0.1",
                                "100.64.0.1",
                                "100.127.255.255",
                                "127.0.0.1",
                                "127.255.255.255",
                                "169.254.169.254",
                                "168.63.129.16",
                                "172.16.0.1",
                                "172.31.255.255",
                                "192.0.0.8",
                                "192.0.2.1",
                                "192.88.99.1",
                                "192.168.0.1",
                                "198.18.0.1",
                                "198.19.255.255",
                                "198.51.100.1",
                                "203.0.113.1",
                                "224.0.0.1",
                                "239.255.255.255",
                                "240.0.0.1",
                                "255.255.255.255",
                                "::",
                                "::1",
                                "::2",
                                "::127.0.0.1",
                                "::ffff:10.0.0.1",
                                "fc00::1",
                                "fd12:3456::1",
                                "fe80::1",
                                "febf::1",
                                "fec0::1",
                                "ff02::1",
                                "2001::1",
                                "2001:10::1",
                                "2001:db8::1",
                                "2002:7f00:1::",
                                "3fff::1",
                                "4000::1",
                                "100::1",
                                "5f00::1",
                                "64:ff9b::7f00:1",
                                "64:ff9b::a00:1",
                                "64:ff9b:1::1"}) {
        CAPTURE(address);
        CHECK(!what(address).empty());
    }
}

TEST_CASE("an address that is not public is named by its kind") {
    CHECK(what("127.0.0.1") == "this machine");
    CHECK(what("::1") == "this machine");
    CHECK(what("64:ff9b::7f00:1") == "this machine");
    CHECK(what("10.1.2.3") == "a private network");
}

TEST_CASE("names that mean this machine by definition") {
    CHECK(is_local_name(Host{"localhost"}));
    CHECK(is_local_name(Host{"a.localhost"}));
    CHECK(!is_local_name(Host{"localhost.example"}));
    CHECK(!is_local_name(Host{"notlocalhost"}));
}

TEST_CASE("the loopback's three names are known in every spelling, and no other is taken for one") {
    for (const char* host : {"localhost", "LocalHost.", "127.0.0.1", "::1", "[0:0:0:0:0:0:0:1]", "::ffff:127.0.0.1"}) {
        CAPTURE(host);
        CHECK(is_loopback(parse_host(host).value()));
    }
    for (const char* host : {"x.localhost", "127.0.0.2", "0.0.0.0", "::", "localhost.example"}) {
        CAPTURE(host);
        CHECK_FALSE(is_loopback(parse_host(host).value()));
    }
}
