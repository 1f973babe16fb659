#include "base/public_address.hpp"

#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <cstring>
#include <netinet/in.h>

namespace cellgate {

namespace {

constexpr std::string_view link_local = "a neighbour on the same link, or a cloud's metadata";
constexpr std::string_view special = "no address of the public network";

struct Range4 {
    std::uint32_t first;
    int bits;
    std::string_view what;
};

constexpr std::uint32_t ip(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    return a << 24 | b << 16 | c << 8 | d;
}

constexpr std::array ranges4 = {Range4{ip(127, 0, 0, 0), 8, this_machine},
                                Range4{ip(0, 0, 0, 0), 8, this_machine},
                                Range4{ip(10, 0, 0, 0), 8, private_network},
                                Range4{ip(172, 16, 0, 0), 12, private_network},
                                Range4{ip(192, 168, 0, 0), 16, private_network},
                                Range4{ip(100, 64, 0, 0), 10, private_network},
                                Range4{ip(169, 254, 0, 0), 16, link_local},
                                Range4{ip(168, 63, 129, 16), 32, link_local},
                                Range4{ip(192, 0, 0, 0), 24, special},
                                Range4{ip(192, 0, 2, 0), 24, special},
                                Range4{ip(192, 88, 99, 0), 24, special},
                                Range4{ip(198, 18, 0, 0), 15, special},
                                Range4{ip(198, 51, 100, 0), 24, special},
                                Range4{ip(203, 0, 113, 0), 24, special},
                                Range4{ip(224, 0, 0, 0), 3, special}};

std::string_view of_v4(std::uint32_t address) {
    for (const Range4& range : ranges4) {
        if (((address ^ range.first) >> (32 - range.bits)) == 0) {
            return range.what;
        }
    }
    return {};
}

std::uint32_t v4_at(const std::uint8_t* bytes) {
    return ip(bytes[0], bytes[1], bytes[2], bytes[3]);
}

std::string_view of_v6(const in6_addr& address) {
    const std::uint8_t* bytes = address.s6_addr;
    const auto begins = [bytes](std::initializer_list<std::uint8_t> prefix) {
        return std::memcmp(bytes, prefix.begin(), prefix.size()) == 0;
    };
    if (IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address)) {
        return this_machine;
    }
    if ((bytes[0] & 0xfe) == 0xfc) {
        return private_network;
    }
    if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) {
        return link_local;
    }
    constexpr std::size_t carried = 12; // where the last four bytes begin
    if (begins({0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}) ||
        begins({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff})) {
        return of_v4(v4_at(bytes + carried));
    }
    // What is given to the public is 2000::/3. In it: protocols of their own (Teredo among them), 6to4, examples.
    const bool assigned = (bytes[0] & 0xe0) == 0x20 && !(begins({0x20, 0x01}) && bytes[2] < 2) &&
                          !begins({0x20, 0x01, 0x0d, 0xb8}) && !begins({0x20, 0x02}) &&
                          !(begins({0x3f, 0xff}) && bytes[2] < 16);
    return assigned ? std::string_view() : special;
}

} // namespace

std::string_view what_is_not_public(const Host& address) {
    in_addr v4{};
    in6_addr v6{};
    if (::inet_pton(AF_INET, address.name.c_str(), &v4) == 1) {
        return of_v4(ntohl(v4.s_addr));
    }
    return ::inet_pton(AF_INET6, address.name.c_str(), &v6) == 1 ? of_v6(v6) : special;
}

bool is_local_name(const Host& host) {
    return host.name == "localhost" || host.name.ends_with(".localhost");
}

bool is_loopback(const Host& host) {
    return host.name == "localhost" || host.name == "127.0.0.1" || host.name == "::1";
}

} // namespace cellgate
