#include "inspector.hpp"

#include "base/error.hpp"
#include "base/visible_text.hpp"
#include "client_hello.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::egress {

namespace {

constexpr char tls_handshake = 0x16;
constexpr std::size_t longest_first_line = 8192;

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
    switch (kind_of_first_line()) {
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

Inspector::Kind Inspector::kind_of_first_line() const {
    if (kept_.empty()) {
        return Kind::unknown;
    }
    if (kept_.front() == tls_handshake) {
        return Kind::tls;
    }
    // Servers read over empty lines before a request.
    const std::size_t begin = kept_.find_first_not_of("\r\n");
    if (begin == std::string::npos) {
        return kept_.size() > longest_first_line ? Kind::http : Kind::unknown; // refused there
    }
    const std::size_t end = kept_.find('\n', begin);
    const std::string_view line = std::string_view(kept_).substr(begin, end == std::string::npos ? end : end - begin);
    const auto is_text = [](char c) { return c == '\t' || c == '\r' || (c >= ' ' && c <= '~'); };
    for (const char c : line) {
        if (!is_text(c)) {
            return Kind::other;
        }
    }
    if (end == std::string::npos) {
        return line.size() <= longest_first_line ? Kind::unknown : Kind::http; // refused there
    }
    // Whatever its case: some servers are lenient.
    const auto same = [](char a, char b) { return (a | ' ') == (b | ' '); };
    constexpr std::string_view version = "http/";
    const bool names_http = std::search(line.begin(), line.end(), version.begin(), version.end(), same) != line.end();
    return names_http ? Kind::http : Kind::other;
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
                                visible_text(std::string_view(head.target).substr(0, 300))));
    }
    body_.emplace(head);
    std::string passed = head_for_server(head, head.target, to_string(endpoint_));
    const std::string behind = kept_.substr(*size);
    kept_.clear();
    return passed + behind.substr(0, body_->take(behind));
}

} // namespace cellgate::egress
