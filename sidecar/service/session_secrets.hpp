#pragma once
// `SessionSecrets` is the secrets of single sessions. They are in memory alone, hide others of the same name in what
// runs in their session, and end with it. Tool servers, which sessions share, never get one.

#include "base/clock.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::service {

// One without its value.
struct SessionSecret {
    std::string session_id;
    std::string name;
    std::string set_at; // RFC 3339
};

class SessionSecrets {
  public:
    // `clock` outlives it.
    explicit SessionSecrets(Clock& clock) : clock_(clock) {}

    // Keeps it in the place of what had its name in the session.
    SessionSecret set(const std::string& session_id, const std::string& name, std::string value);
    // What was forgotten. Throws Error{invalid_params} when there is none.
    SessionSecret remove(const std::string& session_id, const std::string& name);
    std::optional<std::string> find(const std::string& session_id, const std::string& name) const;
    // By session, then by name.
    std::vector<SessionSecret> list() const;
    void end_session(const std::string& session_id);

  private:
    struct Kept {
        std::string set_at;
        std::string value;
    };

    Clock& clock_;
    std::map<std::string, std::map<std::string, Kept>> kept_; // by session and name
};

} // namespace cellgate::service
