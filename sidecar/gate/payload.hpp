#pragma once
// `Payload` is what an action does, as the gate judges it: the exact bytes, hashed once and only when a grant needs the
// hash, and the fields that rules name.

#include "gate/action.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::gate {

inline constexpr std::size_t max_argument_bytes = std::size_t{8} << 20;

// Whether only an exact payload may be allowed. False for tools of external servers and for the reading tools of the
// built-in server; a tool of the built-in server that is not known to only read counts as one that writes.
bool requires_exact_payload(ActionKind kind, std::optional<std::string_view> tool);

// The body of a request, if it is an object of JSON.
std::optional<RawJson> json_object(std::string_view body);

// sha256 over every field that says what is done, each with its length, so that no two payloads run together.
// Identities are not part of it: a grant binds them separately.
std::string payload_hash(const Action& action);

// Of the fields that are only in a payload (FieldRole).
std::size_t payload_bytes(const Action& action);

// The action with what the decision history keeps of every action.
Action without_payload(const Action& action);

// Throws Error{internal_error} when an enforcement point left out what grants bind or users need to see,
// Error{invalid_params} for arguments that are no object, Error{limit_exceeded} for arguments that are too large.
void require_complete(const Action& action);

// Refers to the action.
class Payload {
  public:
    explicit Payload(const Action& action);
    const Action& action() const { return *action_; }
    const std::string& hash() const {
        if (hash_.empty()) {
            hash_ = payload_hash(*action_);
        }
        return hash_;
    }

    // What rules name; nothing where the action has no such field.
    struct Names {
        ActionKind kind = ActionKind::tool;
        std::optional<std::string_view> server;
        std::optional<std::string_view> tool;
        std::optional<std::string_view> url;
        std::optional<std::string_view> host;
        std::optional<std::int64_t> port;
        std::optional<protocol::NetworkProtocol> protocol;
        std::optional<std::string_view> server_identity;
        std::optional<std::string_view> tool_identity;
        std::optional<std::string_view> method;
        std::optional<std::string_view> path;
        const RawJson* arguments = nullptr; // of a request: its body, if that is an object
        bool has_other_body = false;        // of a request: it has, or may have, a body that is no object
        bool has_own_folder = false;        // relative paths in the arguments are not the workspace's
        friend bool operator==(const Names&, const Names&) = default;
    };
    const Names& names() const { return names_; }
    bool requires_exact() const { return requires_exact_payload(names_.kind, names_.tool); }

  private:
    const Action* action_;
    Names names_;
    std::shared_ptr<const RawJson> body_json_;
    mutable std::string hash_;
};

} // namespace cellgate::gate
