#include "login_store.hpp"

#include "base/json_codec.hpp"
#include "base/log.hpp"

#include <algorithm>
#include <chrono>

namespace cellgate::tools {

namespace {

constexpr std::int64_t logins_version = 1;
constexpr Duration seldom = std::chrono::seconds(1);

template <class Kept>
auto find_kept(std::vector<Kept>& all, const LoginKey& key) {
    return std::find_if(all.begin(), all.end(), [&key](const Kept& each) { return each.key == key; });
}

template <class Kept>
const Kept* pointer_to(const std::vector<Kept>& all, const LoginKey& key) {
    const auto found = std::find_if(all.begin(), all.end(), [&key](const Kept& each) { return each.key == key; });
    return found == all.end() ? nullptr : &*found;
}

template <class Kept>
void set_kept(std::vector<Kept>& all, Kept value) {
    const auto found = find_kept(all, value.key);
    if (found == all.end()) {
        all.push_back(std::move(value));
    } else {
        *found = std::move(value);
    }
}

template <class Visit, class Key>
void visit_key(Visit& visit, Key& key) {
    visit("server", key.server);
    visit("url", key.url);
}

template <class Visit, class Client>
void visit_client(Visit& visit, Client& client) {
    visit("clientId", client.id);
    visit("clientSecret", client.secret);
    visit("authMethod", client.auth_method);
}

// The stored form of each struct: flat, with the names of its fields.
template <class Kept>
struct Written {
    Kept value;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        auto& value = self.value;
        if constexpr (!std::is_same_v<Kept, StoredRegistration>) {
            visit_key(visit, value.key);
        }
        if constexpr (std::is_same_v<Kept, StoredLogin>) {
            visit("issuer", value.issuer);
            visit("tokenEndpoint", value.token_endpoint);
            visit("revocationEndpoint", value.revocation_endpoint);
            visit("resource", value.resource);
            visit_client(visit, value.client);
            visit("accessToken", value.access_token);
            visit("refreshToken", value.refresh_token);
            visit("expiresAt", value.expires_at);
            visit("scopes", value.scopes);
            visit("askedScopes", value.asked_scopes);
            visit("stepUps", value.step_ups);
        } else if constexpr (std::is_same_v<Kept, StoredWish>) {
            visit("resourceMetadata", value.resource_metadata);
            visit("scopes", value.scopes);
        } else if constexpr (std::is_same_v<Kept, StoredRegistration>) {
            visit("issuer", value.issuer);
            visit("redirectUri", value.redirect_uri);
            visit_client(visit, value.client);
        } else {
            visit("clientId", value.client_id);
            visit("issuer", value.issuer);
        }
    }
};

template <class Kept>
std::vector<Written<Kept>> written(const std::vector<Kept>& all) {
    std::vector<Written<Kept>> out;
    for (const Kept& each : all) {
        out.push_back({each});
    }
    return out;
}

template <class Kept>
std::vector<Kept> unwritten(std::vector<Written<Kept>>& all) {
    std::vector<Kept> out;
    for (Written<Kept>& each : all) {
        out.push_back(std::move(each.value));
    }
    return out;
}

struct WrittenLogins {
    std::int64_t version = logins_version;
    std::int64_t redirect_port = 0;
    std::vector<Written<StoredLogin>> logins;
    std::vector<Written<StoredWish>> wishes;
    std::vector<Written<StoredRegistration>> registrations;
    std::vector<Written<StoredBinding>> bindings;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("version", self.version);
        visit("redirectPort", self.redirect_port);
        visit("logins", self.logins);
        visit("wishes", self.wishes);
        visit("registrations", self.registrations);
        visit("bindings", self.bindings);
    }
};

std::string write_logins(const StoredLogins& logins) {
    WrittenLogins out;
    out.redirect_port = logins.redirect_port;
    out.logins = written(logins.logins);
    out.wishes = written(logins.wishes);
    out.registrations = written(logins.registrations);
    out.bindings = written(logins.bindings);
    return to_json(out);
}

// What is of another version, or no text of ours, is as if nothing were kept: every server needs a login again.
StoredLogins read_logins(const std::optional<std::string>& text) {
    StoredLogins logins;
    if (!text) {
        return logins;
    }
    try {
        WrittenLogins found = from_json<WrittenLogins>(RawJson::parse(*text), "logins");
        if (found.version != logins_version) {
            log_warning("the kept logins are of version {}, and {} was expected: tool servers need a login again",
                        found.version, logins_version);
            return logins;
        }
        logins.redirect_port = found.redirect_port;
        logins.logins = unwritten(found.logins);
        logins.wishes = unwritten(found.wishes);
        logins.registrations = unwritten(found.registrations);
        logins.bindings = unwritten(found.bindings);
    } catch (const Error&) {
        // Its words would quote the text.
        log_warning("the kept logins cannot be read: tool servers need a login again");
    }
    return logins;
}

} // namespace

const StoredLogin* StoredLogins::login(const LoginKey& key) const {
    return pointer_to(logins, key);
}

const StoredWish* StoredLogins::wish(const LoginKey& key) const {
    return pointer_to(wishes, key);
}

void StoredLogins::set_login(StoredLogin login) {
    set_kept(logins, std::move(login));
}

void StoredLogins::set_wish(StoredWish wish) {
    set_kept(wishes, std::move(wish));
}

void StoredLogins::remove_login(const LoginKey& key) {
    std::erase_if(logins, [&key](const StoredLogin& each) { return each.key == key; });
}

void StoredLogins::remove_wish(const LoginKey& key) {
    std::erase_if(wishes, [&key](const StoredWish& each) { return each.key == key; });
}

LoginStore::LoginStore(async::Loop& loop, Clock& clock, const std::string& directory)
    : loop_(loop), clock_(clock), file_(directory, "logins", "all tool servers need a login again") {}

Task<void> LoginStore::refresh(Look look) {
    const Instant now = clock_.now();
    if (look == Look::seldom && looked_ && now - *looked_ < seldom) {
        co_return;
    }
    const Mutex::Lock lock = co_await busy_.lock();
    looked_ = now;
    store::SecretFile::Version found;
    std::optional<StoredLogins> read;
    std::function<void()> work = [this, &found, &read] {
        found = file_.version(); // before reading: a change meanwhile is seen the next time
        if (!(found == version_)) {
            read = read_logins(file_.read());
        }
    };
    try {
        co_await loop_.run_blocking(std::move(work));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        log_warning("the kept logins cannot be used: {}. {}", error.message, error.hint);
        read.emplace();
    }
    if (read) {
        logins_ = std::move(*read);
        version_ = found;
    }
}

Task<void> LoginStore::change(Change change) {
    const Mutex::Lock lock = co_await busy_.lock();
    StoredLogins changed;
    store::SecretFile::Version found;
    std::function<void()> work = [this, &change, &changed, &found] {
        found = file_.replace([&](std::optional<std::string> text) {
            changed = read_logins(text);
            change(changed);
            return write_logins(changed);
        });
    };
    co_await shielded(loop_.run_blocking(std::move(work)));
    logins_ = std::move(changed);
    version_ = found;
}

mcp::OAuthClientId oauth_client(const StoredClient& client) {
    return {client.id, client.secret, client.auth_method};
}

StoredClient stored_client(const mcp::OAuthClientId& client) {
    return {client.id, client.secret, client.auth_method};
}

} // namespace cellgate::tools
