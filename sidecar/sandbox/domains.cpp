#include "sandbox/domains.hpp"

#include "base/error.hpp"
#include "base/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <netinet/in.h>

namespace cellgate::sandbox {

namespace {

constexpr std::size_t longest_host = 253;
constexpr std::size_t longest_label = 63;

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return result;
}

bool is_label(std::string_view label) {
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; };
    return !label.empty() && label.size() <= longest_label && std::all_of(label.begin(), label.end(), plain) &&
           label.front() != '-' && label.back() != '-';
}

// In lower case, without a dot at its end.
bool is_name(std::string_view name) {
    if (name.empty() || name.size() > longest_host) {
        return false;
    }
    while (true) {
        const std::size_t dot = name.find('.');
        if (!is_label(name.substr(0, dot))) {
            return false;
        }
        if (dot == std::string_view::npos) {
            return true;
        }
        name.remove_prefix(dot + 1);
    }
}

bool is_bracketed_address(std::string_view host) {
    in6_addr address{};
    return host.size() > 2 && host.front() == '[' && host.back() == ']' &&
           ::inet_pton(AF_INET6, std::string(host.substr(1, host.size() - 2)).c_str(), &address) == 1;
}

// How inet_ntop spells it, so that two spellings of one address are one.
std::string canonical_address(std::string_view bracketed) {
    in6_addr address{};
    ::inet_pton(AF_INET6, std::string(bracketed.substr(1, bracketed.size() - 2)).c_str(), &address);
    char text[INET6_ADDRSTRLEN];
    ::inet_ntop(AF_INET6, &address, text, sizeof text);
    return fmt::format("[{}]", text);
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (status != std::errc() || end != text.data() + text.size() || port == 0) {
        return std::nullopt;
    }
    return port;
}

struct Split {
    std::string_view host;
    std::optional<std::string_view> port;
};

Split split_port(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const std::size_t bracket = text.rfind(']');
    if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) {
        return {text, std::nullopt};
    }
    return {text.substr(0, colon), text.substr(colon + 1)};
}

Error invalid(std::string_view text, std::string_view expected, std::string hint) {
    return Error(ErrorCode::config_invalid,
                 fmt::format("expected {}, found \"{}\"", expected, visible_text(text.substr(0, 100))),
                 std::move(hint));
}

} // namespace

std::string check_domain(std::string_view given, DomainList list) {
    const std::string text = lower(given);
    if (text == "*" && list == DomainList::denied) {
        return text;
    }
    const auto [host, port] = split_port(text);
    if (port && !parse_port(*port)) {
        throw invalid(given, "a port from 1 to 65535 behind the last colon",
                      "An IPv6 address stands in brackets: [::1], [::1]:8080.");
    }
    const std::string suffix = port ? fmt::format(":{}", *parse_port(*port)) : std::string();
    if (is_bracketed_address(host)) {
        return canonical_address(host) + suffix;
    }
    std::string_view name = host;
    const bool wildcard = name.starts_with("*.");
    name.remove_prefix(wildcard ? 2 : 0);
    if (host == "*" || (wildcard && is_name(name) && name.find('.') == std::string_view::npos)) {
        throw invalid(given, "names below a domain of two parts at least, such as *.example.org",
                      "Name the domains that are meant; what is not named is asked about.");
    }
    if (!is_name(name)) {
        throw invalid(given, "a host, such as example.org, *.example.org, example.org:443 or [::1]",
                      "Leave out the scheme, the path and a dot at the end; names of other scripts stand in their "
                      "xn-- form.");
    }
    return text.substr(0, host.size()) + suffix;
}

std::optional<HostAndPort> parse_host(std::string_view given) {
    const std::string text = lower(given);
    auto [host, port] = split_port(text);
    HostAndPort result;
    if (port) {
        result.port = parse_port(*port);
        if (!result.port) {
            return std::nullopt;
        }
    }
    if (is_bracketed_address(host)) {
        result.host = canonical_address(host);
        return result;
    }
    if (host.ends_with('.')) {
        host.remove_suffix(1);
    }
    if (!is_name(host)) {
        return std::nullopt;
    }
    result.host = host;
    return result;
}

bool domain_covers(std::string_view entry, const HostAndPort& host) {
    if (entry == "*") {
        return true;
    }
    const auto [name, port] = split_port(entry);
    if (port && host.port != parse_port(*port)) {
        return false;
    }
    if (name.starts_with("*.")) {
        return host.host.ends_with(name.substr(1)) && host.host.size() > name.size() - 1;
    }
    return host.host == name;
}

} // namespace cellgate::sandbox
