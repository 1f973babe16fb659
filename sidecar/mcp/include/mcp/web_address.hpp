#pragma once
// `WebAddress` is an http or https URL that a login uses, taken apart strictly: what two readers could read differently
// (a user before the host, a backslash, a host in another spelling) is no such URL. The functions beside it encode what
// OAuth puts into URLs and forms.

#include "base/host.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellgate::mcp {

struct WebAddress {
    bool secure = false; // https
    Endpoint endpoint;
    std::string origin; // "https://example.org:8443", as it is written, without a path
    std::string path;   // "/mcp"; empty if there is none
    std::string query;  // "?a=b"; empty if there is none
};

// Nothing for other text, and for a URL with a fragment.
std::optional<WebAddress> parse_web_address(std::string_view url);
bool same_origin(const WebAddress& a, const WebAddress& b);
// Whether its host is this machine by its spelling: a loopback address, or localhost.
bool is_loopback(const WebAddress& address);

using FormFields = std::vector<std::pair<std::string, std::string>>;

// application/x-www-form-urlencoded.
std::string encode_form(const FormFields& fields);
// Nothing for a text that is no such form.
std::optional<FormFields> decode_form(std::string_view text);
// `url` with the fields added to its query.
std::string with_query(const std::string& url, const FormFields& fields);
// base64 as URLs have it (RFC 4648 section 5), without padding.
std::string encode_base64url(std::string_view bytes);

} // namespace cellgate::mcp
