#include "gate/action.hpp"

#include <fmt/format.h>

#include <type_traits>

namespace cellgate::gate {

namespace {

struct ToProtocol {
    protocol::Action& out;

    template <auto Member, FieldRole Role, class Value>
    void operator()(Field<Member, Role>, const Value& value) const {
        out.*Member = value;
    }
    void operator()(field::SandboxSettings, const SandboxSettings& settings) const {
        out.sandbox_config = settings.file;
        out.sandbox_settings_text = settings.text;
    }
};

struct FromProtocol {
    const protocol::Action& in;

    template <class Tag, class Value>
    void operator()(const BoundField<Tag, Value>& bound) const {
        const auto& given = in.*Tag::member;
        if constexpr (detail::is_optional<Value>) {
            bound.value = given;
        } else if (given) {
            bound.value = *given;
        } else if (Tag::role != FieldRole::identity) {
            throw Error(ErrorCode::invalid_params, "params.action: expected all fields of its kind, found one without");
        }
    }
    void operator()(const BoundField<field::SandboxSettings, std::optional<SandboxSettings>>& bound) const {
        if (in.sandbox_settings_text) {
            bound.value = SandboxSettings{in.sandbox_config.value_or(""), *in.sandbox_settings_text};
        }
    }
    template <class Tag>
    void operator()(const FixedField<Tag>&) const {}
};

template <class Alternative>
Action read(const protocol::Action& action) {
    Alternative made;
    for_each_bound(made, FromProtocol{action});
    return made;
}

} // namespace

ActionKind kind_of(const Action& action) {
    return std::visit([](const auto& alternative) { return alternative.kind; }, action);
}

protocol::Action to_protocol(const Action& action) {
    protocol::Action made;
    made.kind = kind_of(action);
    for_each_field(action, ToProtocol{made});
    return made;
}

Action from_protocol(const protocol::Action& action) {
    switch (action.kind) {
    case ActionKind::tool:
        return action.cwd ? read<ClientCall>(action) : read<ToolCall>(action);
    case ActionKind::host:
        return read<HostCall>(action);
    case ActionKind::server:
        return action.url ? read<ServerUse>(action) : read<ServerStart>(action);
    case ActionKind::network:
        return read<Connection>(action);
    case ActionKind::request:
        return read<HttpRequest>(action);
    case ActionKind::install:
        return read<Install>(action);
    case ActionKind::output:
        return read<Output>(action);
    }
    throw Error(ErrorCode::internal_error, "expected a kind of action, found none");
}

} // namespace cellgate::gate
