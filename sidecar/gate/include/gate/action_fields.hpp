#pragma once
// `Field` is a field that actions have: its member of the protocol's `Action`, and its role for the gate. Each
// alternative of `Action` (action.hpp) lists its fields once, in fields(); whatever is made of an action (the payload's
// hash, its size, the display, the decision history, the protocol's `Action`) goes over that list.

#include "protocol/messages/policy.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>

namespace cellgate::gate {

enum class FieldRole {
    name,      // hashed; the decision history keeps it when the payload is too large
    payload,   // hashed
    statement, // shown, but not to be relied on: no answer covers it
    identity,  // not hashed: a grant binds it separately
};

template <auto Member, FieldRole Role>
struct Field {
    static constexpr auto member = Member;
    static constexpr FieldRole role = Role;
};

// The settings file of a sandbox, which the protocol has in two members.
struct SandboxSettingsField {
    static constexpr FieldRole role = FieldRole::payload;
};

namespace field {

using Server = Field<&protocol::Action::server, FieldRole::name>;
using Tool = Field<&protocol::Action::tool, FieldRole::name>;
using Arguments = Field<&protocol::Action::arguments_text, FieldRole::payload>;
using Command = Field<&protocol::Action::command, FieldRole::payload>;
using Cwd = Field<&protocol::Action::cwd, FieldRole::payload>;
using EnvironmentNames = Field<&protocol::Action::environment_names, FieldRole::payload>;
using Environment = Field<&protocol::Action::environment, FieldRole::payload>;
using Sandbox = Field<&protocol::Action::sandbox, FieldRole::name>;
using SandboxLauncher = Field<&protocol::Action::sandbox_launcher, FieldRole::name>;
using SandboxSettings = SandboxSettingsField;
using Folders = Field<&protocol::Action::folders, FieldRole::payload>;
using Url = Field<&protocol::Action::url, FieldRole::payload>;
using HeaderNames = Field<&protocol::Action::header_names, FieldRole::payload>;
using Headers = Field<&protocol::Action::headers, FieldRole::payload>;
using Host = Field<&protocol::Action::host, FieldRole::name>;
using Port = Field<&protocol::Action::port, FieldRole::name>;
using Protocol = Field<&protocol::Action::protocol, FieldRole::name>;
using Tls = Field<&protocol::Action::tls, FieldRole::name>;
using Method = Field<&protocol::Action::method, FieldRole::name>;
using UrlPath = Field<&protocol::Action::path, FieldRole::name>;
using Query = Field<&protocol::Action::query, FieldRole::payload>;
using RequestHeaders = Field<&protocol::Action::request_headers, FieldRole::payload>;
using Secrets = Field<&protocol::Action::secrets, FieldRole::payload>;
using BodyBytes = Field<&protocol::Action::body_bytes, FieldRole::payload>;
using BodySha256 = Field<&protocol::Action::body_sha256, FieldRole::payload>;
using Body = Field<&protocol::Action::body, FieldRole::payload>;
using OutputText = Field<&protocol::Action::output_text, FieldRole::payload>;
using Results = Field<&protocol::Action::results, FieldRole::payload>;
using Program = Field<&protocol::Action::program, FieldRole::statement>;
using ServerIdentity = Field<&protocol::Action::server_identity, FieldRole::identity>;
using ToolIdentity = Field<&protocol::Action::tool_identity, FieldRole::identity>;

} // namespace field

// A member of an alternative, as its fields() lists it.
template <class Tag, class Value>
struct BoundField {
    using tag = Tag;
    static constexpr bool is_member = true;
    Value& value;
};

// A field with the same value in every action of its alternative.
template <class Tag>
struct FixedField {
    using tag = Tag;
    static constexpr bool is_member = false;
    std::string_view value;
};

template <class Tag, class Value>
BoundField<Tag, Value> member(Value& value) {
    return {value};
}

namespace detail {

// Does not compile unless T has exactly `count` members.
template <std::size_t count, class T>
void require_member_count(const T& value) {
    if constexpr (count == 2) {
        [[maybe_unused]] const auto& [a, b] = value;
    } else if constexpr (count == 5) {
        [[maybe_unused]] const auto& [a, b, c, d, e] = value;
    } else if constexpr (count == 6) {
        [[maybe_unused]] const auto& [a, b, c, d, e, f] = value;
    } else if constexpr (count == 7) {
        [[maybe_unused]] const auto& [a, b, c, d, e, f, g] = value;
    } else if constexpr (count == 10) {
        [[maybe_unused]] const auto& [a, b, c, d, e, f, g, h, i, j] = value;
    } else if constexpr (count == 14) {
        [[maybe_unused]] const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = value;
    } else {
        static_assert(count == 9, "fields() lists another number of members than the alternatives have");
        [[maybe_unused]] const auto& [a, b, c, d, e, f, g, h, i] = value;
    }
}

template <class Value>
inline constexpr bool is_optional = false;
template <class Value>
inline constexpr bool is_optional<std::optional<Value>> = true;

template <class Value>
const Value* present(const Value& value) {
    return &value;
}
template <class Value>
const Value* present(const std::optional<Value>& value) {
    return value ? &*value : nullptr;
}

} // namespace detail

// Calls `visit` with each of the alternative's bound and fixed fields. Does not compile when a member is not listed.
template <class Alternative, class Visit>
void for_each_bound(Alternative& alternative, const Visit& visit) {
    const auto each = [&alternative, &visit]<class... Bound>(const Bound&... bound) {
        detail::require_member_count<(std::size_t{Bound::is_member} + ...)>(alternative);
        (visit(bound), ...);
    };
    std::apply(each, Alternative::fields(alternative));
}

} // namespace cellgate::gate
