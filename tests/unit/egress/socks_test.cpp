#include "socks.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::egress;

namespace {

std::string request(char command, char type, const std::string& address, const std::string& port = {"\1\xbb", 2}) {
    return std::string{socks_version, command, '\0', type} + address + port;
}

std::string named(const std::string& name) {
    return static_cast<char>(name.size()) + name;
}

std::string endpoint(const std::string& bytes) {
    const std::optional<SocksRequest> found = read_socks_request(bytes);
    REQUIRE(found);
    return found->endpoint ? to_string(*found->endpoint) : "refused";
}

} // namespace

TEST_CASE("a SOCKS greeting") {
    CHECK(!socks_greeting_size("\5"));
    CHECK(!socks_greeting_size("\5\2\1"));
    CHECK(socks_greeting_size(std::string_view("\5\1\0more", 7)) == 3);
    CHECK(offers_no_password(std::string_view("\5\2\2\0", 4)));
    CHECK(!offers_no_password("\5\1\2"));
}

TEST_CASE("a SOCKS request names a host or an address") {
    CHECK(endpoint(request(1, 3, named("Example.org"))) == "example.org:443");
    CHECK(endpoint(request(1, 1, std::string("\x7f\0\0\1", 4))) == "127.0.0.1:443");
    CHECK(endpoint(request(1, 4, std::string(15, '\0') + '\1')) == "[::1]:443");
    CHECK(endpoint(request(1, 4, std::string(10, '\0') + "\xff\xff" + std::string("\x7f\0\0\1", 4))) ==
          "127.0.0.1:443");
    const std::string whole = request(1, 3, named("example.org"));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        CHECK(!read_socks_request(std::string_view(whole).substr(0, size)));
    }
    CHECK(read_socks_request(whole + "more")->size == whole.size());
}

TEST_CASE("what SOCKS can ask and we do not do is refused by name") {
    CHECK(read_socks_request(request(2, 3, named("a.example")))->refusal == SocksReply::command_unknown); // BIND
    CHECK(read_socks_request(request(3, 3, named("a.example")))->refusal == SocksReply::command_unknown); // UDP
    CHECK(read_socks_request(request(1, 9, named("a.example")))->refusal == SocksReply::address_unknown);
    CHECK(read_socks_request(request(1, 3, named("")))->refusal == SocksReply::address_unknown);
    CHECK(read_socks_request(request(1, 3, named(std::string("evil.example\0.example.org", 25))))->refusal ==
          SocksReply::address_unknown);
    CHECK(read_socks_request(request(1, 3, named("2130706433")))->refusal == SocksReply::address_unknown);
    CHECK(read_socks_request(request(1, 3, named("a.example"), std::string(2, '\0')))->refusal ==
          SocksReply::address_unknown);
}
