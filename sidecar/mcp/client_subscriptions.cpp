// Resources whose changes are waited for: the client subscribes to each once, for as long as the connection lasts.

#include "failed.hpp"
#include "mcp/client.hpp"
#include "wire.hpp"

#include <fmt/format.h>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_subscriptions = 256;

// A server may report a part of the resource that was subscribed to.
bool concerns(const std::string& changed, const std::string& subscribed) {
    return changed.starts_with(subscribed);
}

} // namespace

Task<void> Client::resource_changed(std::string uri, Duration limit) {
    if (!subscriptions_.contains(uri)) {
        co_await subscribe_to(uri, limit);
    }
    const std::shared_ptr<Subscription> subscription = subscriptions_.at(uri);
    const auto moved = [this, &subscription] { return subscription->changed || is_closed(); };
    co_await subscription->moved.until(moved);
    if (is_closed()) {
        throw failed("the connection to the server ended");
    }
    subscription->changed = false;
}

Task<void> Client::subscribe_to(std::string uri, Duration limit) {
    if (subscriptions_.size() >= max_subscriptions) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("expected at most {} resources whose changes are waited for", max_subscriptions));
    }
    std::string text;
    append_json_string(text, uri);
    if (era_ == Era::modern) {
        // It stays open as long as the server does.
        start_request("subscriptions/listen",
                      RawJson::checked(
                          fmt::format(R"({{"notifications":{{"resourceSubscriptions":[{}]}}{}}})", text, meta(","))));
    } else {
        std::string method = "resources/subscribe";
        RawJson params = RawJson::checked(fmt::format(R"({{"uri":{}}})", text));
        co_await request(std::move(method), std::move(params), clock_.now() + limit);
    }
    subscriptions_.try_emplace(std::move(uri), std::make_shared<Subscription>());
}

void Client::on_resource_updated(const std::string& uri) {
    for (const auto& [subscribed, subscription] : subscriptions_) {
        if (concerns(uri, subscribed)) {
            subscription->changed = true;
            subscription->moved.notify();
        }
    }
}

} // namespace cellgate::mcp
