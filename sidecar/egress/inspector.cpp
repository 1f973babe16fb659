#include "inspector.hpp"

#include "base/error.hpp"
#include "base/visible_text.hpp"
#include "client_hello.hpp"

#include <fmt/format.h>

namespace cellgate::egress {

namespace {

constexpr char tls_handshake = 0x16;
constexpr std::size_t most_read_over = 16; // bytes before a method
constexpr std::size_t longest_method = 24; // and they are shorter

[[noreturn]] void refuse_other(const Endpoint& endpoint, std::string_view asks, std::string_view what) {
    throw Error(ErrorCode::denied, fmt::format("the connection to {} asks for another host in {}: {}",
                                               to_string(endpoint), what, visible_text(asks.substr(0, 300))));
}

void require_name(const ClientHello& hello, const Endpoint& endpoint) {
    // Of an address no name is asked for.
    if (!hello.server_name && endpoint.host.is_address) {
        return;
    }
    const std::string asked = hello.server_name.value_or("none");
    const std::optional<Host> host = hello.server_name ? parse_host(asked) : std::nullopt;
    if (host != endpoint.host) {
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
    if (asked != endpoint) {
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
    switch (kind_of_beginning()) {
    case Kind::unknown:
        return {};
    case Kind::http:
        return pass_http();
    case Kind::tls:
        if (const std::optional<ClientHello> hello = read_client_hello(kept_)) {
            require_name(*hello, endpoint_);
            break;
        }
        return {};
    case Kind::other:
        break;
    }
    open_ = true;
    return std::exchange(kept_, {});
}

// Whatever begins like a method of HTTP and a blank is HTTP, and has to be read as that: servers read over what stands
// before it, over a missing version, over bytes that have no place there, and each of them over others.
Inspector::Kind Inspector::kind_of_beginning() const {
    if (kept_.empty()) {
        return Kind::unknown;
    }
    if (kept_.front() == tls_handshake) {
        return Kind::tls;
    }
    const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-'; };
    const auto is_odd = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= ' ' || byte >= 0x7f;
    };
    // White space and the mark of UTF-8; binary protocols begin with other bytes.
    constexpr std::string_view read_over = "\t\n\v\f\r \xef\xbb\xbf";
    std::size_t at = 0;
    while (at < kept_.size() && at < most_read_over && read_over.find(kept_[at]) != std::string_view::npos) {
        ++at;
    }
    const std::size_t begin = at;
    while (at < kept_.size() && at - begin < longest_method && is_letter(kept_[at])) {
        ++at;
    }
    if (at == kept_.size()) {
        return Kind::unknown;
    }
    return at > begin && is_odd(kept_[at]) && kept_[at] != '\r' && kept_[at] != '\n' ? Kind::http : Kind::other;
}

std::string Inspector::pass_http() {
    const std::size_t line = kept_.find('\n');
    if (line != std::string::npos) {
        check_request_line(std::string_view(kept_).substr(0, line + 1));
    }
    const std::optional<std::size_t> size = head_size(kept_);
    if (!size) {
        return {};
    }
    const RequestHead head = parse_head(std::string_view(kept_).substr(0, *size));
    require_host(head, endpoint_);
    if (!head.target.starts_with('/') && head.target != "*") {
        throw Error(ErrorCode::denied,
                    fmt::format("a request in a tunnel names a path of the tunnel's host, this one names: {}",
                                visible_text(std::string_view(head.target).substr(0, 300))));
    }
    body_.emplace(head);
    std::string passed = head_for_server(head, head.target, to_string(endpoint_));
    const std::string behind = kept_.substr(*size);
    kept_.clear();
    return passed + behind.substr(0, body_->take(behind));
}

} // namespace cellgate::egress
