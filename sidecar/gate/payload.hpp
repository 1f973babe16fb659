#pragma once
// `Payload` is what an action does, as the gate judges it: the exact bytes, hashed once and only when a grant needs the
// hash.

#include "protocol/messages/policy.hpp"

#include <cstddef>
#include <string>

namespace cellgate::gate {

inline constexpr std::size_t max_argument_bytes = std::size_t{8} << 20;

// Whether only an exact payload may be allowed. False for tools of external servers and for the reading tools of the
// built-in server; a tool of the built-in server that is not known to only read counts as one that writes.
bool requires_exact_payload(const protocol::Action& action);

// sha256 over every field that says what is done, each with its length, so that no two payloads run together.
// Identities are not part of it: a grant binds them separately.
std::string payload_hash(const protocol::Action& action);

// Throws Error{internal_error} when an enforcement point left out what grants bind or users need to see,
// Error{invalid_params} for arguments that are no object, Error{limit_exceeded} for arguments that are too large.
void require_complete(const protocol::Action& action);

// Refers to the action.
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
