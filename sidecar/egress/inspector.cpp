#include "inspector.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/public_address.hpp"
#include "client_hello.hpp"
#include "protocol_sniffer.hpp"

#include <fmt/format.h>

namespace cellgate::egress {

namespace {

[[noreturn]] void refuse_other(const Endpoint& endpoint, std::string_view asks, std::string_view what) {
    throw Error(ErrorCode::denied, fmt::format("the connection to {} asks for another host in {}: {}",
                                               to_string(endpoint), what, escape_unprintable(asks.substr(0, 300))));
}

// A program that connects to a relay may know the loopback by another of its names.
bool means(const Host& asked, const Host& host) {
    return asked == host || (is_loopback(asked) && is_loopback(host));
}

void require_name(const ClientHello& hello, const Endpoint& endpoint) {
    // Of an address no name is asked for.
    if (!hello.server_name && (endpoint.host.is_address || is_loopback(endpoint.host))) {
        return;
    }
    const std::string asked = hello.server_name.value_or("none");
    const std::optional<Host> host = hello.server_name ? parse_host(asked) : std::nullopt;
    if (!host || !means(*host, endpoint.host)) {
        refuse_other(endpoint, asked, "its TLS server name");
    }
}

} // namespace

void require_host(const RequestHead& head, const Endpoint& endpoint) {
    const std::optional<std::string> field = head.single("host");
    if (!field && head.minor_version == 0) {
        return;
    }
    // Many leave out the port, whichever it is.
    const std::optional<Endpoint> asked = field ? parse_endpoint(*field, endpoint.port) : std::nullopt;
    if (!asked || asked->port != endpoint.port || !means(asked->host, endpoint.host)) {
        refuse_other(endpoint, field.value_or("none"), "its Host field");
    }
}

std::string Inspector::pass(std::string_view bytes) {
    if (open_) {
        return std::string(bytes);
    }
    if (body_) {
        return std::string(bytes.substr(0, body_->take(bytes)));
    }
    kept_ += bytes;
    switch (sniff_protocol(kept_)) {
    case SniffedProtocol::incomplete:
        return {};
    case SniffedProtocol::http:
        return pass_http();
    case SniffedProtocol::tls:
        if (const std::optional<ClientHello> hello = read_client_hello(kept_)) {
            require_name(*hello, endpoint_);
            break;
        }
        return {};
    case SniffedProtocol::raw:
        raw_ = true;
        return {};
    }
    open_ = true;
    return std::exchange(kept_, {});
}

std::string Inspector::permit_raw() {
    open_ = true;
    return std::exchange(kept_, {});
}

std::string Inspector::pass_http() {
    const std::optional<std::size_t> size = head_size(kept_);
    if (!size) {
        return {};
    }
    const RequestHead head = parse_head(std::string_view(kept_).substr(0, *size));
    require_host(head, endpoint_);
    if (!head.target.starts_with('/') && head.target != "*") {
        throw Error(ErrorCode::denied,
                    fmt::format("a request in a tunnel names a path of the tunnel's host, this one names: {}",
                                escape_unprintable(std::string_view(head.target).substr(0, 300))));
    }
    body_.emplace(head);
    std::string passed = head_for_server(head, head.target, to_string(endpoint_));
    const std::string behind = kept_.substr(*size);
    kept_.clear();
    return passed + behind.substr(0, body_->take(behind));
}

} // namespace cellgate::egress
