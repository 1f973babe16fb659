#include "mcp/web_address.hpp"

#include "base/encoding.hpp"
#include "base/percent_encoding.hpp"
#include "base/public_address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_url_bytes = 4096;
constexpr std::uint16_t http_port = 80;
constexpr std::uint16_t https_port = 443;

bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// What RFC 3986 allows behind the host, without a fragment.
bool is_url_char(char c) {
    return is_alphanumeric(c) || std::string_view("-._~:/?[]@!$&'()*+,;=%").find(c) != std::string_view::npos;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::string> decode_form_part(std::string_view text) {
    std::string decoded;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            decoded += text[at] == '+' ? ' ' : text[at];
            continue;
        }
        if (at + 2 >= text.size()) {
            return std::nullopt;
        }
        const int first = hex_digit(text[at + 1]);
        const int second = hex_digit(text[at + 2]);
        if (first < 0 || second < 0) {
            return std::nullopt;
        }
        decoded += static_cast<char>(first * 16 + second);
        at += 2;
    }
    return decoded;
}

} // namespace

std::optional<WebAddress> parse_web_address(std::string_view url) {
    WebAddress address;
    address.secure = url.starts_with("https://");
    if (url.size() > max_url_bytes || (!address.secure && !url.starts_with("http://")) ||
        !std::all_of(url.begin(), url.end(), is_url_char)) {
        return std::nullopt;
    }
    const std::size_t host = url.find("://") + 3;
    const std::size_t path = std::min(url.find_first_of("/?", host), url.size());
    std::optional<Endpoint> endpoint =
        parse_endpoint(url.substr(host, path - host), address.secure ? https_port : http_port);
    if (!endpoint) {
        return std::nullopt;
    }
    address.endpoint = std::move(*endpoint);
    address.origin = url.substr(0, path);
    const std::size_t query = std::min(url.find('?', path), url.size());
    address.path = url.substr(path, query - path);
    address.query = url.substr(query);
    return address;
}

bool same_origin(const WebAddress& a, const WebAddress& b) {
    return a.secure == b.secure && a.endpoint == b.endpoint;
}

bool is_loopback(const WebAddress& address) {
    const Host& host = address.endpoint.host;
    return host.is_address ? what_is_not_public(host) == this_machine : is_local_name(host);
}

std::string encode_form(const FormFields& fields) {
    std::string form;
    for (const auto& [name, value] : fields) {
        form += fmt::format("{}{}={}", form.empty() ? "" : "&", percent_encode(name), percent_encode(value));
    }
    return form;
}

std::optional<FormFields> decode_form(std::string_view text) {
    FormFields fields;
    while (!text.empty()) {
        const std::string_view pair = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(pair.size() + 1, text.size()));
        const std::size_t equals = std::min(pair.find('='), pair.size());
        std::optional<std::string> name = decode_form_part(pair.substr(0, equals));
        std::optional<std::string> value = decode_form_part(pair.substr(std::min(equals + 1, pair.size())));
        if (!name || !value) {
            return std::nullopt;
        }
        fields.emplace_back(std::move(*name), std::move(*value));
    }
    return fields;
}

std::string with_query(const std::string& url, const FormFields& fields) {
    return fmt::format("{}{}{}", url, url.find('?') == std::string::npos ? '?' : '&', encode_form(fields));
}

std::string encode_base64url(std::string_view bytes) {
    std::string text = encode_base64(bytes);
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    text.erase(std::min(text.find('='), text.size()));
    return text;
}

} // namespace cellgate::mcp
