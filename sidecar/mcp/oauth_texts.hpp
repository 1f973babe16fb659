#pragma once
// `oauth_texts` are what the files about logins do with texts of servers: show them, look for words in lists, and take
// URLs apart that have to be such.

#include "base/escape_unprintable.hpp"
#include "failed.hpp"
#include "mcp/web_address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::mcp {

using Texts = std::vector<std::string>;

// For messages: escaped and cut.
inline std::string shown(std::string_view text) {
    return escape_unprintable(text.substr(0, 200));
}

inline bool has_text(const Texts& texts, std::string_view wanted) {
    return std::find(texts.begin(), texts.end(), wanted) != texts.end();
}

// Throws Error{tool_server_failed}; `what` says what it is.
inline WebAddress require_address(const std::string& url, std::string_view what) {
    std::optional<WebAddress> address = parse_web_address(url);
    if (!address) {
        throw failed(fmt::format("expected a URL as the {}, found \"{}\"", what, shown(url)));
    }
    return std::move(*address);
}

} // namespace cellgate::mcp
