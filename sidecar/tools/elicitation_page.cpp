#include "elicitation_page.hpp"

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_url = 8192;

Error not_to_open(const std::string& why) {
    return Error(ErrorCode::invalid_params, "url: " + why);
}

// The length of "http://" or "https://" at its start; 0 for any other.
std::size_t scheme_length(std::string_view url) {
    const std::string start = lower(url.substr(0, 8));
    return start.starts_with("https://") ? 8 : start.starts_with("http://") ? 7 : 0;
}

} // namespace

std::string host_of_page(const std::string& url) {
    const std::size_t scheme = scheme_length(url);
    if (scheme == 0) {
        throw not_to_open("expected http:// or https://");
    }
    if (url.size() > max_url) {
        throw not_to_open(fmt::format("expected at most {} bytes", max_url));
    }
    // A browser takes a backslash for a slash, and leaves out tabs and line breaks.
    if (!std::all_of(url.begin(), url.end(), [](char c) { return c > ' ' && c <= '~' && c != '\\'; })) {
        throw not_to_open("expected printable ASCII without spaces and backslashes; an international host is written "
                          "xn--…");
    }
    const std::string_view rest = std::string_view(url).substr(scheme);
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
    if (authority.find('@') != std::string_view::npos) {
        throw not_to_open("expected a host without a user before it");
    }
    const std::optional<Endpoint> with_port = parse_endpoint(authority, std::nullopt);
    if (with_port) {
        return to_string(*with_port);
    }
    const std::optional<Host> host = parse_host(authority);
    if (!host) {
        throw not_to_open("expected a host");
    }
    return host->name;
}

} // namespace cellgate::tools
