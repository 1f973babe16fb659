#pragma once
// `SecretRecord` writes into the workspace's record what happens to secrets, and knows when each was last used. No
// entry has a value.

#include "activity_record.hpp"
#include "session_secrets.hpp"
#include "store/secrets.hpp"

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::service {

class SecretRecord {
  public:
    struct Key {
        std::string name;
        std::string scope; // "user", "workspace", "session"
        std::optional<std::string> session_id;
        auto operator<=>(const Key&) const = default;
    };

    // Both outlive it.
    SecretRecord(Clock& clock, ActivityRecord& activity) : clock_(clock), activity_(activity) {}

    static Key key_of(const store::SecretEntry& secret);
    static Key key_of(const SessionSecret& secret);
    void set(const store::SecretEntry& secret);
    void set(const SessionSecret& secret);
    void deleted(const store::SecretEntry& secret);
    void deleted(const SessionSecret& secret);
    // Given to a tool server that starts.
    void used(const store::SecretEntry& secret, const std::string& server);
    // Put into a request to an endpoint ("api.example.org:443").
    void put_into_request(Key secret, const std::string& endpoint);
    // When each was last used in this workspace, in RFC 3339: of the newest 1000 uses in the last 30 days.
    Task<std::map<Key, std::string>> last_uses();

  private:
    void note(std::string_view type, const store::SecretEntry& secret);
    void note(std::string_view type, const SessionSecret& secret);

    Clock& clock_;
    ActivityRecord& activity_;
};

} // namespace cellgate::service
