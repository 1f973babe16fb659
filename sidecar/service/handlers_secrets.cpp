// secret/*.

#include "base/escape_unprintable.hpp"
#include "base/shell_words.hpp"
#include "handlers.hpp"
#include "sandbox/home.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace cellgate::service {

namespace {

protocol::SecretScope scope_of(store::SecretScope scope) {
    return scope == store::SecretScope::workspace ? protocol::SecretScope::workspace : protocol::SecretScope::user;
}

store::SecretScope scope_of(std::optional<protocol::SecretScope> scope) {
    return scope == protocol::SecretScope::workspace ? store::SecretScope::workspace : store::SecretScope::user;
}

protocol::SecretSource source_of(store::SecretSource source) {
    switch (source) {
    case store::SecretSource::command:
        return protocol::SecretSource::command;
    case store::SecretSource::file:
        return protocol::SecretSource::file;
    case store::SecretSource::environment:
        return protocol::SecretSource::environment;
    case store::SecretSource::stored:
        break;
    }
    return protocol::SecretSource::stored;
}

void require_session_id(std::optional<protocol::SecretScope> scope, const std::optional<std::string>& session_id) {
    const bool of_session = scope == protocol::SecretScope::session;
    if (of_session && !session_id) {
        throw Error(ErrorCode::invalid_params, "expected a session with the scope session, found none",
                    "name one of the sessions that there are");
    }
    if (!of_session && session_id) {
        throw Error(ErrorCode::invalid_params,
                    "expected a session only with the scope session, found one with another");
    }
}

struct SecretMethods {
    SidecarServices& sidecar;

    protocol::SecretInfo info_of(const store::SecretEntry& entry) const {
        protocol::SecretInfo info;
        info.name = entry.name;
        info.scope = scope_of(entry.scope);
        info.source = source_of(entry.source);
        if (!entry.command.empty()) {
            info.from = escape_unprintable(shell_words(entry.command));
        } else if (!entry.file.empty()) {
            info.from = escape_unprintable(entry.file);
        }
        if (!entry.set_at.empty()) {
            info.set_at = entry.set_at;
        }
        return info;
    }

    protocol::SecretInfo info_of(const SessionSecret& secret) const {
        protocol::SecretInfo info;
        info.name = secret.name;
        info.scope = protocol::SecretScope::session;
        info.session_id = secret.session_id;
        info.source = protocol::SecretSource::stored;
        info.set_at = secret.set_at;
        return info;
    }

    template <class Secret>
    static protocol::SecretInfo with_last_use(protocol::SecretInfo info, const Secret& secret,
                                              const std::map<SecretRecord::Key, std::string>& last_uses) {
        if (const auto used = last_uses.find(SecretRecord::key_of(secret)); used != last_uses.end()) {
            info.last_used_at = used->second;
        }
        return info;
    }

    Task<protocol::SecretListResult> list(Empty) {
        const std::vector<store::SecretEntry> entries = co_await sidecar.secrets.list();
        const std::map<SecretRecord::Key, std::string> last_uses = co_await sidecar.secret_record.last_uses();
        std::map<std::string, std::vector<std::string>> users = sidecar.registry.secret_users();
        protocol::SecretListResult result;
        for (const SessionSecret& secret : sidecar.session_secrets.list()) {
            result.secrets.push_back(with_last_use(info_of(secret), secret, last_uses));
        }
        std::string before;
        for (const store::SecretEntry& entry : entries) {
            protocol::SecretInfo& info = result.secrets.emplace_back(with_last_use(info_of(entry), entry, last_uses));
            if (entry.name != before) { // the workspace's hides the user's
                info.used_by = users[entry.name];
            }
            before = entry.name;
        }
        // One that hides another comes before it.
        std::sort(result.secrets.begin(), result.secrets.end(), [](const auto& a, const auto& b) {
            return std::tie(a.name, b.scope, a.session_id) < std::tie(b.name, a.scope, b.session_id);
        });
        co_return result;
    }

    Task<protocol::SecretInfo> set(protocol::SecretSetParams params) {
        require_session_id(params.scope, params.session_id);
        if (params.session_id) {
            co_return set_for_session(std::move(params));
        }
        store::SecretEntry entry;
        entry.name = std::move(params.name);
        entry.scope = scope_of(params.scope);
        if (params.command) {
            entry.source = store::SecretSource::command;
            entry.command = std::move(*params.command);
        } else if (params.file) {
            entry.source = store::SecretSource::file;
            entry.file = sidecar.workspace.resolve(sandbox::without_tilde(*params.file, sidecar.workspace.environment));
        }
        std::string value = std::move(params.value).value_or("");
        sidecar.known_secrets.add(entry.name, value);
        const store::SecretEntry kept = co_await sidecar.secrets.set(std::move(entry), std::move(value));
        sidecar.secret_record.set(kept);
        protocol::SecretInfo info = info_of(kept);
        info.used_by = sidecar.registry.secret_users()[kept.name];
        co_return info;
    }

    protocol::SecretInfo set_for_session(protocol::SecretSetParams params) {
        if (!params.value) {
            throw Error(ErrorCode::invalid_params,
                        "expected the value of a secret of one session, found a command or a file",
                        "It is kept in memory; a program and a file are for the scopes user and workspace.");
        }
        sidecar.sessions.find(*params.session_id); // throws
        sidecar.known_secrets.add(params.name, *params.value);
        const SessionSecret kept =
            sidecar.session_secrets.set(*params.session_id, params.name, std::move(*params.value));
        sidecar.secret_record.set(kept);
        return info_of(kept);
    }

    Task<Empty> remove(protocol::SecretDeleteParams params) {
        require_session_id(params.scope, params.session_id);
        if (params.session_id) {
            sidecar.sessions.find(*params.session_id); // throws
            sidecar.secret_record.deleted(sidecar.session_secrets.remove(*params.session_id, params.name));
            co_return Empty{};
        }
        const store::SecretScope scope = scope_of(params.scope);
        const store::SecretEntry removed = co_await sidecar.secrets.remove(std::move(params.name), scope);
        sidecar.secret_record.deleted(removed);
        co_return Empty{};
    }
};

} // namespace

void add_secret_handlers(SidecarServices& sidecar, Client& client) {
    const auto handlers = std::make_shared<SecretMethods>(sidecar);
    client.peer.on_request<protocol::SecretList>([handlers](Empty params) { return handlers->list(params); });
    client.peer.on_request<protocol::SecretSet>(
        [handlers](protocol::SecretSetParams params) { return handlers->set(std::move(params)); });
    client.peer.on_request<protocol::SecretDelete>(
        [handlers](protocol::SecretDeleteParams params) { return handlers->remove(std::move(params)); });
}

} // namespace cellgate::service
