#pragma once
// `LoginStore` is the logins at tool servers, as they are kept encrypted on the disk, for all workspaces of the user.
// Several processes use it: each looks for changes of the others. The files are read and written off the loop.

#include "async/loop.hpp"
#include "base/clock.hpp"
#include "base/sync.hpp"
#include "mcp/oauth_client.hpp"
#include "store/secret_file.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

// Whose login it is. Another URL is another server.
struct LoginKey {
    std::string server;
    std::string url; // with the variables put in
    auto operator<=>(const LoginKey&) const = default;
};

// How cellgate is known at an authorization server.
struct StoredClient {
    std::string id;
    std::string secret;
    std::string auth_method;
};

struct StoredLogin {
    LoginKey key;
    std::string issuer; // whose tokens these are: no other server gets them
    std::string token_endpoint;
    std::string revocation_endpoint;
    std::string resource;
    StoredClient client;
    std::string access_token;
    std::string refresh_token;
    std::optional<std::int64_t> expires_at; // seconds since 1970
    std::vector<std::string> scopes;        // that were granted
    std::vector<std::string> asked_scopes;
    std::int64_t step_ups = 0; // logins for more scopes since the last plain one
};

// A server wants a login for more than there is.
struct StoredWish {
    LoginKey key;
    std::string resource_metadata;
    std::vector<std::string> scopes; // all to ask for
};

// cellgate registered itself.
struct StoredRegistration {
    std::string issuer;
    std::string redirect_uri;
    StoredClient client;
};

// The first issuer to which a configured client id was sent for a server: with its secret, it goes to no other one.
struct StoredBinding {
    LoginKey key;
    std::string client_id;
    std::string issuer;
};

struct StoredLogins {
    std::int64_t version = 1;
    std::int64_t redirect_port = 0; // 0: none was chosen yet
    std::vector<StoredLogin> logins;
    std::vector<StoredWish> wishes;
    std::vector<StoredRegistration> registrations;
    std::vector<StoredBinding> bindings;

    const StoredLogin* login(const LoginKey& key) const;
    const StoredWish* wish(const LoginKey& key) const;
    // Replaces the one of this key.
    void set_login(StoredLogin login);
    void set_wish(StoredWish wish);
    void remove_login(const LoginKey& key);
    void remove_wish(const LoginKey& key);
};

class LoginStore {
  public:
    using Change = std::function<void(StoredLogins&)>;

    // `loop` and `clock` outlive it. `directory` is made when something is kept.
    LoginStore(async::Loop& loop, Clock& clock, const std::string& directory);

    enum class Look { now, seldom };
    // Reads it again if another process changed it; `seldom`: looks once in a second at most. What cannot be read is
    // as if nothing were kept, and is logged.
    Task<void> refresh(Look look);
    // As it was read or changed last.
    const StoredLogins& logins() const { return logins_; }
    // Makes a change, on the disk first. Throws Error{store_failed}.
    Task<void> change(Change change);

  private:
    async::Loop& loop_;
    Clock& clock_;
    store::SecretFile file_;
    store::SecretFile::Version version_;
    std::optional<Instant> looked_;
    StoredLogins logins_;
    Mutex busy_;
};

mcp::OAuthClientId oauth_client(const StoredClient& client);
StoredClient stored_client(const mcp::OAuthClientId& client);

} // namespace cellgate::tools
