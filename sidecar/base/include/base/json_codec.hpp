#pragma once
// `json_codec` converts message structs to and from JSON text. A struct lists its fields once:
//
//     struct CellRef {
//         std::string uri;
//         std::int64_t line = 0;
//         template <class Self, class Visit>
//         static void fields(Self& self, Visit& visit) { visit("uri", self.uri); visit("line", self.line); }
//     };
//
// and an enum its names: `inline constexpr EnumNames<Color, 2> enum_names(Color) { return {{…}}; }` next to it. A
// std::optional field may be absent (null reads as absent, save for RawJson; nothing is written); every other field
// must be present. Unknown members are ignored, unless the struct has `static constexpr bool closed = true`. Reading
// throws Error{invalid_params} with the JSON path: "params.cell.line: expected an integer, found a string".

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/raw_json.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cellgate {

template <class E, std::size_t N>
using EnumNames = std::array<std::pair<E, std::string_view>, N>;

// A struct without fields: the params or the result of a method that has none.
struct Empty {
    template <class Self, class Visit>
    static void fields(Self&, Visit&) {}
};

// A value that is always written, as null when it is empty. null is read as empty.
template <class T>
struct Nullable {
    std::optional<T> value;
};

namespace codec {

[[noreturn]] void fail_type(const std::string& path, std::string_view expected, std::string_view text);
[[noreturn]] void fail_missing(const std::string& path, std::string_view name);

void read(std::string_view text, const std::string& path, bool& out);
void read(std::string_view text, const std::string& path, std::int64_t& out);
void read(std::string_view text, const std::string& path, std::uint64_t& out);
void read(std::string_view text, const std::string& path, int& out);
void read(std::string_view text, const std::string& path, double& out);
void read(std::string_view text, const std::string& path, std::string& out);
void read(std::string_view text, const std::string& path, RawJson& out);
void read(std::string_view text, const std::string& path, JsonText& out);
void read(std::string_view text, const std::string& path, Json& out);
template <class E>
    requires std::is_enum_v<E>
void read(std::string_view text, const std::string& path, E& out);
template <class T>
void read(std::string_view text, const std::string& path, std::optional<T>& out);
template <class T>
void read(std::string_view text, const std::string& path, Nullable<T>& out);
template <class T>
void read(std::string_view text, const std::string& path, std::vector<T>& out);
template <class T>
void read(std::string_view text, const std::string& path, std::map<std::string, T>& out);
template <class T>
    requires std::is_class_v<T>
void read(std::string_view text, const std::string& path, T& out);

void write(std::string& out, bool value);
void write(std::string& out, std::int64_t value);
void write(std::string& out, std::uint64_t value);
void write(std::string& out, int value);
void write(std::string& out, double value);
void write(std::string& out, const std::string& value);
void write(std::string& out, const RawJson& value);
void write(std::string& out, const JsonText& value);
void write(std::string& out, const Json& value);
template <class E>
    requires std::is_enum_v<E>
void write(std::string& out, E value);
template <class T>
void write(std::string& out, const Nullable<T>& value);
template <class T>
void write(std::string& out, const std::vector<T>& value);
template <class T>
void write(std::string& out, const std::map<std::string, T>& value);
template <class T>
    requires std::is_class_v<T>
void write(std::string& out, const T& value);

class FieldReader {
  public:
    FieldReader(std::string_view object, const std::string& path) : members_(json_members(object)), path_(path) {}

    template <class T>
    void operator()(std::string_view name, T& out) {
        const std::string_view* text = find(name);
        if (text == nullptr) {
            fail_missing(path_, name);
        }
        read(*text, path_of(name), out);
    }
    template <class T>
    void operator()(std::string_view name, std::optional<T>& out) {
        if (const std::string_view* text = find(name)) {
            read(*text, path_of(name), out);
        }
    }
    // Throws when the object has a member that is not a field.
    void require_all_known() const;

  private:
    const std::string_view* find(std::string_view name);
    std::string path_of(std::string_view name) const;

    std::vector<std::pair<std::string, std::string_view>> members_;
    const std::string& path_;
    std::vector<std::string_view> asked_;
};

struct FieldWriter {
    std::string& out;
    bool first = true;

    void key(std::string_view name);

    template <class T>
    void operator()(std::string_view name, const T& value) {
        key(name);
        write(out, value);
    }
    template <class T>
    void operator()(std::string_view name, const std::optional<T>& value) {
        if (value) {
            (*this)(name, *value);
        }
    }
};

template <class E>
    requires std::is_enum_v<E>
void read(std::string_view text, const std::string& path, E& out) {
    std::string name;
    read(text, path, name);
    std::string known;
    for (const auto& [value, value_name] : enum_names(E{})) {
        if (value_name == name) {
            out = value;
            return;
        }
        known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", value_name);
    }
    throw Error(ErrorCode::invalid_params,
                fmt::format("{}: expected one of {}, found {}", path, known, text.substr(0, 60)));
}

template <class T>
void read(std::string_view text, const std::string& path, std::optional<T>& out) {
    // A free-form value may well be null.
    if (text != "null" || std::is_same_v<T, RawJson>) {
        read(text, path, out.emplace());
    }
}

template <class T>
void read(std::string_view text, const std::string& path, Nullable<T>& out) {
    read(text, path, out.value);
}

template <class T>
void read(std::string_view text, const std::string& path, std::vector<T>& out) {
    if (json_type(text) != "array") {
        fail_type(path, "an array", text);
    }
    for (const std::string_view element : json_elements(text)) {
        T value{};
        read(element, fmt::format("{}[{}]", path, out.size()), value);
        out.push_back(std::move(value));
    }
}

template <class T>
void read(std::string_view text, const std::string& path, std::map<std::string, T>& out) {
    if (json_type(text) != "object") {
        fail_type(path, "an object", text);
    }
    for (auto& [key, member] : json_members(text)) {
        read(member, fmt::format("{}.{}", path, key), out[key]);
    }
}

template <class T>
    requires std::is_class_v<T>
void read(std::string_view text, const std::string& path, T& out) {
    if (json_type(text) != "object") {
        fail_type(path, "an object", text);
    }
    FieldReader reader(text, path);
    T::fields(out, reader);
    if constexpr (requires { T::closed; }) {
        reader.require_all_known();
    }
}

template <class E>
    requires std::is_enum_v<E>
void write(std::string& out, E value) {
    for (const auto& [each, name] : enum_names(E{})) {
        if (each == value) {
            append_json_string(out, name);
            return;
        }
    }
    throw Error(ErrorCode::internal_error, "an enum value without a name");
}

template <class T>
void write(std::string& out, const Nullable<T>& value) {
    if (value.value) {
        write(out, *value.value);
    } else {
        out += "null";
    }
}

template <class T>
void write(std::string& out, const std::vector<T>& value) {
    out += '[';
    bool first = true;
    for (const T& element : value) {
        if (!std::exchange(first, false)) {
            out += ',';
        }
        write(out, element);
    }
    out += ']';
}

template <class T>
void write(std::string& out, const std::map<std::string, T>& value) {
    out += '{';
    FieldWriter writer{out};
    for (const auto& [key, member] : value) {
        writer(key, member);
    }
    out += '}';
}

template <class T>
    requires std::is_class_v<T>
void write(std::string& out, const T& value) {
    out += '{';
    FieldWriter writer{out};
    T::fields(value, writer);
    out += '}';
}

} // namespace codec

// `text` must be valid JSON (RawJson, or part of one); `path` names the value in errors ("params").
template <class T>
T from_json(std::string_view text, const std::string& path) {
    T value{};
    codec::read(trim_json(text), path, value);
    return value;
}
template <class T>
T from_json(const RawJson& raw, const std::string& path) {
    return from_json<T>(std::string_view(raw.text()), path);
}

// On one line.
template <class T>
void append_json(std::string& out, const T& value) {
    codec::write(out, value);
}
template <class T>
std::string to_json(const T& value) {
    std::string out;
    append_json(out, value);
    return out;
}
template <class T>
RawJson to_raw_json(const T& value) {
    return RawJson::checked(to_json(value));
}

} // namespace cellgate
