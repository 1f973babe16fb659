#include "launch/relays.hpp"

#include "base/host.hpp"
#include "base/public_address.hpp"
#include "sandbox/profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

namespace cellgate::sandbox {

namespace {

constexpr int first_open_port = 1024; // below, the system lets only privileged programs listen

struct Family {
    char number; // of the IP version
    std::string_view address;
};
constexpr Family families[] = {{'4', "127.0.0.1"}, {'6', "::1"}};

std::string_view why_not(int port) {
    return port == proxy_port                                      ? "the sandbox's own proxy is there"
           : port >= first_kernel_port && port <= last_kernel_port ? "kernels listen there. Use another port"
           : port < first_open_port ? "no program in a sandbox can listen below port 1024. Use a higher port"
                                    : "";
}

} // namespace

Relays relays_of(const std::vector<std::string>& hosts) {
    Relays relays;
    std::vector<Endpoint> listed;
    std::set<std::uint16_t> ports;
    for (const std::string& host : hosts) {
        const std::optional<HostPattern> pattern = parse_host_pattern(host);
        if (!pattern || pattern->below || !pattern->port || !is_loopback(pattern->host)) {
            continue;
        }
        Endpoint endpoint{pattern->host, *pattern->port};
        if (std::find(listed.begin(), listed.end(), endpoint) != listed.end()) {
            continue;
        }
        if (const std::string_view why = why_not(endpoint.port); !why.empty()) {
            relays.notices.push_back(fmt::format("{} is not relayed: {}", to_string(endpoint), why));
        } else {
            ports.insert(endpoint.port);
        }
        listed.push_back(std::move(endpoint));
    }
    for (const std::uint16_t port : ports) {
        for (const Family& family : families) {
            // The one of the same family; else any, as a program that asks for localhost tries both.
            const auto fits = [&](const Endpoint& each) {
                return each.port == port && (each.host.name == family.address || !each.host.is_address);
            };
            auto target = std::find_if(listed.begin(), listed.end(), fits);
            if (target == listed.end()) {
                target = std::find_if(listed.begin(), listed.end(), [port](const auto& e) { return e.port == port; });
            }
            relays.arguments.push_back(fmt::format("relay={}:{}:{}", family.number, port, target->host.name));
        }
    }
    relays.ports = fmt::format("{}", fmt::join(ports, " "));
    return relays;
}

} // namespace cellgate::sandbox
