#include "mcp/oauth_requests.hpp"

#include "async/tcp.hpp"
#include "base/public_address.hpp"
#include "base/sync.hpp"
#include "http_answers.hpp"
#include "oauth_texts.hpp"

#include <fmt/format.h>

#include <chrono>
#include <vector>

namespace cellgate::mcp {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_answer_bytes = std::size_t{1} << 20;
constexpr Duration answer_limit = 30s;
constexpr Duration lookup_limit = 10s;
constexpr std::string_view discovery_version = "2025-11-25";

// Empty if all of them are public.
std::string_view worst_of(const std::vector<Host>& addresses) {
    std::string_view worst;
    for (const Host& address : addresses) {
        const std::string_view what = what_is_not_public(address);
        const bool is_near = what == this_machine || what == private_network;
        if (!what.empty() && (worst.empty() || !is_near)) {
            worst = what;
        }
    }
    return worst;
}

// Those of a name; none if they cannot be looked up here, as where only a proxy can.
Task<std::vector<Host>> addresses_of(async::Loop* loop, Clock* clock, Host host) {
    if (!host.is_address && is_local_name(host)) {
        std::vector<Host> here;
        here.push_back({"127.0.0.1", true});
        here.push_back({"::1", true});
        co_return here;
    }
    try {
        std::optional<std::vector<Host>> found =
            co_await with_timeout(*clock, lookup_limit, async::resolve_host(*loop, std::move(host)));
        co_return std::move(found).value_or(std::vector<Host>{});
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        // The request says what is wrong, if it cannot be sent either.
    }
    co_return std::vector<Host>{};
}

} // namespace

OAuthRequests::OAuthRequests(async::Loop& loop, Clock& clock, std::string server_url)
    : loop_(loop), clock_(clock), server_url_(std::move(server_url)), http_(loop) {}

Task<OAuthAnswer> OAuthRequests::get(std::string url) {
    async::HttpRequest request;
    request.url = std::move(url);
    request.fields.emplace_back("Accept", json_type_name);
    request.fields.emplace_back("MCP-Protocol-Version", discovery_version);
    return send(std::move(request));
}

Task<OAuthAnswer> OAuthRequests::post(std::string url, std::string content_type, std::string body,
                                      std::string authorization) {
    async::HttpRequest request;
    request.method = "POST";
    request.url = std::move(url);
    request.fields.emplace_back("Content-Type", std::move(content_type));
    request.fields.emplace_back("Accept", json_type_name);
    if (!authorization.empty()) {
        request.fields.emplace_back("Authorization", std::move(authorization));
    }
    request.body = std::move(body);
    return send(std::move(request));
}

Task<OAuthAnswer> OAuthRequests::send(async::HttpRequest request) {
    const std::string url = shown(request.url);
    request = co_await judged(std::move(request));
    std::optional<OAuthAnswer> answer = co_await with_timeout(clock_, answer_limit, exchange(std::move(request)));
    if (!answer) {
        throw failed(fmt::format("{} did not answer within 30 seconds", url));
    }
    if (answer->status >= 300 && answer->status < 400) {
        throw failed(fmt::format("{} redirects, which is not followed in a login", url));
    }
    co_return std::move(*answer);
}

Task<OAuthAnswer> OAuthRequests::exchange(async::HttpRequest request) {
    const std::unique_ptr<async::HttpExchange> exchange = http_.start(std::move(request));
    const async::HttpHead head = co_await exchange->head();
    OAuthAnswer answer;
    answer.status = head.status;
    answer.body = co_await whole_body(exchange.get(), max_answer_bytes);
    co_return answer;
}

Task<std::string> OAuthRequests::own_network() {
    Host host = require_address(server_url_, "URL of the MCP server").endpoint.host;
    const std::vector<Host> addresses = co_await addresses_of(&loop_, &clock_, std::move(host));
    const std::string_view what = worst_of(addresses);
    co_return std::string(what);
}

Task<async::HttpRequest> OAuthRequests::judged(async::HttpRequest request) {
    const WebAddress address = require_address(request.url, "URL of a login");
    Host host = address.endpoint.host;
    const std::vector<Host> addresses = co_await addresses_of(&loop_, &clock_, std::move(host));
    const std::string what(worst_of(addresses));
    if (!what.empty()) {
        const std::string own = co_await own_network();
        const bool near = what == this_machine || what == private_network;
        const bool own_near = own == this_machine || own == private_network;
        if (!near || !own_near) {
            throw failed(fmt::format("the login would ask {}, which is {}", shown(request.url), what),
                         "A tool server of the public network cannot have cellgate send requests there.");
        }
    }
    if (!address.endpoint.host.is_address) {
        for (const Host& each : addresses) {
            const bool v6 = each.name.find(':') != std::string::npos;
            request.addresses.push_back(v6 ? "[" + each.name + "]" : each.name);
        }
    }
    co_return request;
}

} // namespace cellgate::mcp
