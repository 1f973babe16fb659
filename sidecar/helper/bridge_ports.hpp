#pragma once
// `take_port` and `loopback_address` are how bridges write and use the ports of a sandbox's own network.

#include <cstdint>
#include <cstdlib>
#include <netinet/in.h>

namespace cellgate::helper {

// The port in front of a colon of `text`, which then begins behind it; 0 for any other text.
inline std::uint16_t take_port(const char*& text) {
    char* colon = nullptr;
    const unsigned long port = std::strtoul(text, &colon, 10);
    if (*colon != ':' || port > UINT16_MAX) {
        return 0;
    }
    text = colon + 1;
    return static_cast<std::uint16_t>(port);
}

inline sockaddr_in loopback_address(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

} // namespace cellgate::helper
