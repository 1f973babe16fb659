#pragma once
// What an action asks to do, as the gate judges it: its exact payload, hashed once and only when a grant needs it.

#include "protocol/messages/policy.hpp"

#include <cstddef>
#include <string>

namespace cellgate::gate {

inline constexpr std::size_t max_argument_bytes = std::size_t{8} << 20;

// Only an exact payload may be allowed. False for tools of external servers and for the reading tools of the built-in
// server; a tool of the built-in server that is not known to only read counts as one that writes.
bool requires_exact_payload(const protocol::Action& action);

// sha256 over every field that says what is done, each with its length, so that no two payloads run together.
// Identities are not part: grants bind them beside.
std::string payload_hash(const protocol::Action& action);

// Throws Error{internal_error} when a door left out what grants bind or users need to see, Error{invalid_params} for
// arguments that are no object, Error{limit_exceeded} for arguments that are too large.
void require_complete(const protocol::Action& action);

// An action that is judged; refers to it.
class Payload {
  public:
    explicit Payload(const protocol::Action& action) : action_(&action) {}
    const protocol::Action& action() const { return *action_; }
    const std::string& hash() const {
        if (hash_.empty()) {
            hash_ = payload_hash(*action_);
        }
        return hash_;
    }

  private:
    const protocol::Action* action_;
    mutable std::string hash_;
};

} // namespace cellgate::gate
