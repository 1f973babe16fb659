#include "base/json_codec.hpp"

#include "base/escape_unprintable.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace cellgate::codec {

namespace {

template <class Integer>
void read_integer(std::string_view text, const std::string& path, Integer& out) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (status != std::errc() || end != text.data() + text.size()) {
        fail_type(path, std::is_signed_v<Integer> ? "an integer" : "an integer that is not negative", text);
    }
}

template <class Number>
void write_number(std::string& out, Number value) {
    fmt::format_to(std::back_inserter(out), "{}", value);
}

} // namespace

void fail_type(const std::string& path, std::string_view expected, std::string_view text) {
    const std::string_view type = json_type(text);
    throw Error(ErrorCode::invalid_params,
                fmt::format("{}: expected {}, found {}", path, expected,
                            type == "number" ? fmt::format("{}", text.substr(0, 40)) : std::string(type)));
}

void fail_missing(const std::string& path, std::string_view name) {
    throw Error(ErrorCode::invalid_params,
                fmt::format("{}{}{}: expected a value, found none", path, path.empty() ? "" : ".", name));
}

void read(std::string_view text, const std::string& path, bool& out) {
    if (json_type(text) != "boolean") {
        fail_type(path, "a boolean", text);
    }
    out = text == "true";
}

void read(std::string_view text, const std::string& path, std::int64_t& out) {
    read_integer(text, path, out);
}
void read(std::string_view text, const std::string& path, std::uint64_t& out) {
    read_integer(text, path, out);
}
void read(std::string_view text, const std::string& path, int& out) {
    read_integer(text, path, out);
}

void read(std::string_view text, const std::string& path, double& out) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (json_type(text) != "number" || status != std::errc() || !std::isfinite(out)) {
        fail_type(path, "a number", text);
    }
}

void read(std::string_view text, const std::string& path, std::string& out) {
    if (json_type(text) != "string") {
        fail_type(path, "a string", text);
    }
    out = decode_json_string(text);
}

void read(std::string_view text, const std::string&, RawJson& out) {
    out = RawJson::checked(std::string(text));
}
void read(std::string_view text, const std::string& path, JsonText& out) {
    std::string json;
    read(text, path, json);
    if (const std::optional<JsonProblem> problem = check_json(json)) {
        throw Error(ErrorCode::invalid_params, fmt::format("{}: expected JSON as text, found {} at byte {}", path,
                                                           problem->what, problem->offset));
    }
    out = RawJson::checked(std::move(json));
}
void read(std::string_view text, const std::string&, Json& out) {
    out = Json::parse(text);
}

const std::string_view* FieldReader::find(std::string_view name) {
    asked_.push_back(name);
    for (const auto& [key, text] : members_) {
        if (key == name) {
            return &text;
        }
    }
    return nullptr;
}

std::string FieldReader::path_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

void FieldReader::require_all_known() const {
    for (const auto& [key, text] : members_) {
        if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
            throw Error(ErrorCode::invalid_params,
                        fmt::format("{}: expected only known members, found \"{}\"", path_, escape_unprintable(key)));
        }
    }
}

void FieldWriter::key(std::string_view name) {
    if (!std::exchange(first, false)) {
        out += ',';
    }
    append_json_string(out, name);
    out += ':';
}

void write(std::string& out, bool value) {
    out += value ? "true" : "false";
}
void write(std::string& out, std::int64_t value) {
    write_number(out, value);
}
void write(std::string& out, std::uint64_t value) {
    write_number(out, value);
}
void write(std::string& out, int value) {
    write_number(out, value);
}
void write(std::string& out, double value) {
    // JSON has no infinities; a duration or figure of ours that became one is a bug worth seeing.
    if (!std::isfinite(value)) {
        throw Error(ErrorCode::internal_error, "a number that JSON cannot hold");
    }
    write_number(out, value);
}
void write(std::string& out, const std::string& value) {
    append_json_string(out, value);
}
void write(std::string& out, const RawJson& value) {
    // Reserves space, so that a large value is not copied once more by the next write.
    constexpr std::size_t large = std::size_t{64} << 10;
    constexpr std::size_t what_follows = 1024;
    if (value.text().size() > large) {
        out.reserve(out.size() + value.text().size() + what_follows);
    }
    out += value.text();
}
void write(std::string& out, const JsonText& value) {
    append_json_string(out, value.text());
}
void write(std::string& out, const Json& value) {
    out += RawJson::of(value).text();
}

} // namespace cellgate::codec
