#include "mcp/http_guard.hpp"

#include "base/hash.hpp"
#include "base/public_address.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace cellgate::mcp {

namespace {

constexpr int unauthorized = 401;
constexpr int forbidden = 403;

// The token of "Bearer TOKEN"; empty for any other scheme. The scheme's name has no case.
std::string_view bearer_token(std::string_view authorization) {
    constexpr std::string_view scheme = "bearer ";
    const bool is_bearer =
        authorization.size() > scheme.size() && lower(authorization.substr(0, scheme.size())) == scheme;
    return is_bearer ? authorization.substr(scheme.size()) : std::string_view();
}

} // namespace

HttpGuard::HttpGuard(const Endpoint& served, bool tls, std::string token)
    : own_{served}, tls_(tls), token_(std::move(token)) {
    if (is_loopback(served.host)) {
        for (const char* name : {"localhost", "127.0.0.1", "::1"}) {
            own_.push_back({*parse_host(name), served.port});
        }
    }
}

bool HttpGuard::is_own(std::string_view authority) const {
    constexpr std::uint16_t http_port = 80;
    constexpr std::uint16_t https_port = 443;
    const std::optional<Endpoint> named = parse_endpoint(authority, tls_ ? https_port : http_port);
    return named && std::find(own_.begin(), own_.end(), *named) != own_.end();
}

bool HttpGuard::is_own_origin(std::string_view origin) const {
    const std::string_view scheme = tls_ ? "https://" : "http://";
    return origin.starts_with(scheme) && is_own(origin.substr(scheme.size()));
}

std::optional<async::ServedReply> HttpGuard::refuse(const async::ServedRequest& head) const {
    if (!is_own(head.only("host").value_or("")) ||
        (head.has("origin") && !is_own_origin(head.only("origin").value_or("")))) {
        return async::ServedReply{forbidden};
    }
    if (!equal_constant_time(bearer_token(head.only("authorization").value_or("")), token_)) {
        return async::ServedReply{unauthorized, {{"WWW-Authenticate", "Bearer"}}};
    }
    return std::nullopt;
}

} // namespace cellgate::mcp
