#pragma once
// enum_name() is the name of a value whose enum has EnumNames (base/json_codec.hpp), parse_enum() the value of a name.

#include "base/json_codec.hpp"

#include <optional>
#include <string_view>
#include <type_traits>

namespace cellgate {

template <class E>
    requires std::is_enum_v<E>
std::string_view enum_name(E value) {
    for (const auto& [each, name] : enum_names(value)) {
        if (each == value) {
            return name;
        }
    }
    throw Error(ErrorCode::internal_error, "an enum value without a name");
}

// Nothing where no value has the name.
template <class E>
    requires std::is_enum_v<E>
std::optional<E> parse_enum(std::string_view name) {
    for (const auto& [value, each] : enum_names(E{})) {
        if (each == name) {
            return value;
        }
    }
    return std::nullopt;
}

} // namespace cellgate
