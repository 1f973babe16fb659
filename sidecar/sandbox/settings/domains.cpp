#include "sandbox/domains.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

namespace cellgate::sandbox {

std::string check_domain(std::string_view text, DomainList list) {
    if (text == every_host && list == DomainList::denied) {
        return std::string(text);
    }
    if (text.starts_with(any_protocol) && list == DomainList::allowed) {
        return std::string(any_protocol) + check_domain(text.substr(any_protocol.size()), list);
    }
    const std::optional<HostPattern> pattern = parse_host_pattern(text);
    if (!pattern) {
        const bool wide = text.starts_with('*') && text.find('.', 2) == std::string_view::npos;
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected a host, such as example.org, *.example.org, example.org:443, [::1] or "
                                "tcp://db.example.org:5432, found \"{}\"",
                                escape_unprintable(text.substr(0, 100))),
                    wide ? "Name the domains that are meant, with two parts at least; what is not named is asked about."
                         : "Leave out the scheme and the path; write names of other scripts in their xn-- form.");
    }
    const std::string host = to_string(Endpoint{pattern->host, pattern->port.value_or(0)});
    const std::string without_port = host.substr(0, host.rfind(':'));
    return (pattern->below ? "*." : "") + (pattern->port ? host : without_port);
}

std::optional<HostQuery> parse_host_query(std::string_view text) {
    if (const std::optional<Host> host = parse_host(text)) {
        return HostQuery{*host, std::nullopt};
    }
    const std::optional<Endpoint> endpoint = parse_endpoint(text, std::nullopt);
    return endpoint ? std::optional(HostQuery{endpoint->host, endpoint->port}) : std::nullopt;
}

bool domain_covers(std::string_view entry, const HostQuery& query) {
    if (entry == every_host) {
        return true;
    }
    const std::optional<HostPattern> pattern =
        parse_host_pattern(entry.substr(entry.starts_with(any_protocol) ? any_protocol.size() : 0));
    // No port is 0: a pattern with one does not cover it.
    return pattern && covers(*pattern, Endpoint{query.host, query.port.value_or(0)});
}

} // namespace cellgate::sandbox
