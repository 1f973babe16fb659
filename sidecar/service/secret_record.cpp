#include "secret_record.hpp"

#include "base/encoding.hpp"
#include "base/json_codec.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <utility>

namespace cellgate::service {

namespace {

constexpr const char* secret_used_type = "secret.used";

struct SecretData {
    std::string name;
    std::string scope;
    std::optional<std::string> source;
    std::optional<std::string> server;
    std::optional<std::string> host;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("scope", self.scope);
        visit("source", self.source);
        visit("server", self.server);
        visit("host", self.host);
    }
};

SecretData data_of(SecretRecord::Key key) {
    return {std::move(key.name), std::move(key.scope), std::nullopt, std::nullopt, std::nullopt};
}

} // namespace

SecretRecord::Key SecretRecord::key_of(const store::SecretEntry& secret) {
    return {secret.name, secret.scope == store::SecretScope::workspace ? "workspace" : "user", std::nullopt};
}

SecretRecord::Key SecretRecord::key_of(const SessionSecret& secret) {
    return {secret.name, "session", secret.session_id};
}

void SecretRecord::note(std::string_view type, const store::SecretEntry& secret) {
    constexpr std::array<const char*, 4> sources = {"stored", "command", "file", "environment"};
    SecretData data = data_of(key_of(secret));
    data.source = sources.at(static_cast<std::size_t>(secret.source));
    activity_.secret_noted(type, true, std::nullopt, to_raw_json(data));
}

void SecretRecord::note(std::string_view type, const SessionSecret& secret) {
    SecretData data = data_of(key_of(secret));
    data.source = "stored";
    activity_.secret_noted(type, true, secret.session_id, to_raw_json(data));
}

void SecretRecord::set(const store::SecretEntry& secret) {
    note("secret.set", secret);
}

void SecretRecord::set(const SessionSecret& secret) {
    note("secret.set", secret);
}

void SecretRecord::deleted(const store::SecretEntry& secret) {
    note("secret.deleted", secret);
}

void SecretRecord::deleted(const SessionSecret& secret) {
    note("secret.deleted", secret);
}

void SecretRecord::used(const store::SecretEntry& secret, const std::string& server) {
    SecretData data = data_of(key_of(secret));
    data.server = server;
    activity_.secret_noted(secret_used_type, false, std::nullopt, to_raw_json(data));
}

void SecretRecord::put_into_request(Key secret, const std::string& endpoint) {
    std::optional<std::string> session_id = std::move(secret.session_id);
    SecretData data = data_of(std::move(secret));
    data.host = endpoint;
    activity_.secret_noted(secret_used_type, false, std::move(session_id), to_raw_json(data));
}

Task<std::map<SecretRecord::Key, std::string>> SecretRecord::last_uses() {
    constexpr auto far_back = std::chrono::hours(24 * 30);
    protocol::RecordQueryParams params;
    params.types.emplace();
    params.types->emplace_back(secret_used_type);
    params.since = to_rfc3339(clock_.wall() - far_back);
    params.limit = 1000;
    const protocol::RecordQueryResult found = co_await activity_.query(std::move(params));
    std::map<Key, std::string> last;
    for (const protocol::RecordEntry& entry : found.entries) { // the newest first
        const SecretData data = from_json<SecretData>(entry.data, "data");
        last.emplace(Key{data.name, data.scope, entry.session_id}, entry.time);
    }
    co_return last;
}

} // namespace cellgate::service
