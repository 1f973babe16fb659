#include "base/host.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <cstring>
#include <netinet/in.h>

namespace cellgate {

namespace {

constexpr std::size_t max_name_bytes = 253;
constexpr std::size_t max_label_bytes = 63;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_label(std::string_view label) {
    const auto fits = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_'; };
    return !label.empty() && label.size() <= max_label_bytes && label.front() != '-' && label.back() != '-' &&
           std::all_of(label.begin(), label.end(), fits);
}

// Resolvers of the C library read a name whose last part is a number as an address, in any base.
bool ends_in_number(std::string_view name) {
    const std::string_view last = name.substr(name.rfind('.') + 1); // all of it, where there is no dot
    return std::all_of(last.begin(), last.end(), is_digit) || last.starts_with("0x");
}

std::optional<Host> parse_ipv4(const std::string& text) {
    in_addr address{};
    if (::inet_pton(AF_INET, text.c_str(), &address) != 1) {
        return std::nullopt;
    }
    std::array<char, INET_ADDRSTRLEN> canonical{};
    ::inet_ntop(AF_INET, &address, canonical.data(), canonical.size());
    // Its spelling is unambiguous: no leading zeros.
    return text == canonical.data() ? std::optional(Host{text, true}) : std::nullopt;
}

std::optional<Host> parse_ipv6(const std::string& text) {
    in6_addr address{};
    if (::inet_pton(AF_INET6, text.c_str(), &address) != 1) {
        return std::nullopt;
    }
    std::array<char, INET6_ADDRSTRLEN> canonical{};
    if (IN6_IS_ADDR_V4MAPPED(&address)) {
        in_addr mapped{};
        std::memcpy(&mapped, address.s6_addr + 12, sizeof mapped);
        ::inet_ntop(AF_INET, &mapped, canonical.data(), canonical.size());
    } else {
        ::inet_ntop(AF_INET6, &address, canonical.data(), canonical.size());
    }
    return Host{canonical.data(), true};
}

// A port, from text of 1 to 5 digits.
std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), port);
    const bool whole = status == std::errc() && end == text.data() + text.size() && text.size() <= 5;
    return whole && port > 0 ? std::optional(port) : std::nullopt;
}

struct Parts {
    std::string_view host;
    std::optional<std::string_view> port;
};

// "host:port" and "[v6]:port" at their colon. A bare IPv6 address has no port.
Parts parts_of(std::string_view text) {
    const std::size_t bracket = text.starts_with('[') ? text.find(']') : std::string_view::npos;
    const std::size_t colon = bracket == std::string_view::npos ? text.find(':') : bracket + 1;
    if (colon >= text.size() || text[colon] != ':' ||
        (bracket == std::string_view::npos && text.find(':', colon + 1) != std::string_view::npos)) {
        return Parts{text, std::nullopt};
    }
    return Parts{text.substr(0, colon), text.substr(colon + 1)};
}

} // namespace

std::optional<Host> parse_host(std::string_view text) {
    if (text.find('\0') != std::string_view::npos) {
        return std::nullopt;
    }
    if (text.starts_with('[')) {
        return text.ends_with(']') ? parse_ipv6(std::string(text.substr(1, text.size() - 2))) : std::nullopt;
    }
    if (text.find(':') != std::string_view::npos) {
        return parse_ipv6(std::string(text));
    }
    if (text.ends_with('.')) {
        text.remove_suffix(1);
    }
    std::string name = lower(text);
    if (name.empty() || name.size() > max_name_bytes) {
        return std::nullopt;
    }
    if (ends_in_number(name)) {
        return parse_ipv4(name);
    }
    const std::vector<std::string_view> labels = split(name, '.');
    if (!std::all_of(labels.begin(), labels.end(), is_label)) {
        return std::nullopt;
    }
    return Host{std::move(name), false};
}

std::optional<Endpoint> parse_endpoint(std::string_view text, std::optional<std::uint16_t> standard_port) {
    const Parts parts = parts_of(text);
    const std::optional<std::uint16_t> port = parts.port ? parse_port(*parts.port) : standard_port;
    std::optional<Host> host = parse_host(parts.host);
    if (!host || !port) {
        return std::nullopt;
    }
    return Endpoint{std::move(*host), *port};
}

std::string to_string(const Endpoint& endpoint) {
    const bool v6 = endpoint.host.name.find(':') != std::string::npos;
    return (v6 ? "[" + endpoint.host.name + "]" : endpoint.host.name) + ":" + std::to_string(endpoint.port);
}

std::optional<HostPattern> parse_host_pattern(std::string_view text) {
    const Parts parts = parts_of(text);
    HostPattern pattern;
    if (parts.port) {
        pattern.port = parse_port(*parts.port);
        if (!pattern.port) {
            return std::nullopt;
        }
    }
    pattern.below = parts.host.starts_with("*.");
    std::optional<Host> host = parse_host(parts.host.substr(pattern.below ? 2 : 0));
    if (!host || (pattern.below && (host->is_address || host->name.find('.') == std::string::npos))) {
        return std::nullopt;
    }
    pattern.host = std::move(*host);
    return pattern;
}

bool covers(const HostPattern& pattern, const Endpoint& endpoint) {
    if (pattern.port && *pattern.port != endpoint.port) {
        return false;
    }
    return pattern.below ? !endpoint.host.is_address && endpoint.host.name.ends_with("." + pattern.host.name)
                         : endpoint.host == pattern.host;
}

} // namespace cellgate
