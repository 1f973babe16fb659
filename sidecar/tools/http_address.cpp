#include "http_address.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cellgate::tools {

namespace {

// One of these is in the line in which a server says where it listens; other lines may have URLs for other reasons.
constexpr std::array<std::string_view, 5> signs{"listening", "running on", "streamable", "/mcp", "/sse"};

std::string url_in(std::string_view line) {
    const std::size_t start = std::min(line.find("http://"), line.find("https://"));
    if (start == std::string_view::npos) {
        return {};
    }
    std::string url(line.substr(start, line.find_first_of(" \t\r\"'`<>(),\x1b", start) - start));
    const std::size_t host = url.find("//") + 2;
    return url.find('/', host) == std::string::npos ? url + "/mcp" : url;
}

std::string port_in(std::string_view line) {
    constexpr std::string_view word = "port";
    const std::size_t found = line.find(word);
    if (found == std::string_view::npos) {
        return {};
    }
    const std::string_view rest = line.substr(found + word.size());
    const std::size_t start = std::min(rest.find_first_not_of(": "), rest.size());
    return std::string(rest.substr(start, rest.find_first_not_of("0123456789", start) - start));
}

} // namespace

std::string http_address_in(std::string_view output) {
    for (std::size_t at = 0; at < output.size();) {
        const std::size_t end = std::min(output.find('\n', at), output.size());
        const std::string_view line = output.substr(at, end - at);
        const std::string words = lower(line);
        at = end + 1;
        const auto is_in_line = [&](std::string_view sign) { return words.find(sign) != std::string::npos; };
        if (std::none_of(signs.begin(), signs.end(), is_in_line)) {
            continue;
        }
        if (std::string url = url_in(line); !url.empty()) {
            return url;
        }
        if (const std::string port = port_in(words); !port.empty()) {
            return fmt::format("http://localhost:{}/mcp", port);
        }
    }
    return {};
}

} // namespace cellgate::tools
