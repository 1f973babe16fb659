#include "base/json_codec.hpp"

#include "base/escape_unprintable.hpp"
#include "base/suggest.hpp"

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

void fail_check(const std::string& path, std::string_view expected, std::string_view text) {
    constexpr std::size_t max_shown = 60;
    throw Error(ErrorCode::invalid_params,
                fmt::format("{}: expected {}, found {}{}", path, expected,
                            escape_unprintable(text.substr(0, max_shown)), text.size() > max_shown ? "…" : ""));
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

FieldReader::FieldReader(std::string_view text, const std::string& path) : path_(path) {
    if (json_type(text) != "object") {
        fail_type(path, "an object", text);
    }
    members_ = json_members(text);
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

bool FieldReader::has(std::string_view name) const {
    return std::any_of(members_.begin(), members_.end(),
                       [name](const auto& member) { return member.first == name && member.second != "null"; });
}

void FieldReader::require_all_known() const {
    for (const auto& [key, text] : members_) {
        if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
            const std::vector<std::string> names(asked_.begin(), asked_.end());
            throw Error(ErrorCode::invalid_params,
                        fmt::format("{}: expected only known members, found \"{}\"", path_,
                                    escape_unprintable(std::string_view(key).substr(0, 60))),
                        did_you_mean(key, names));
        }
    }
}

void FieldReader::require_any() const {
    if (std::none_of(asked_.begin(), asked_.end(), [this](std::string_view name) { return has(name); })) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("{}: expected at least one of {}, found none", path_, fmt::join(asked_, ", ")));
    }
}

void FieldReader::require_one_of(const std::vector<std::vector<std::string_view>>& choices) const {
    std::size_t complete = 0;
    std::string known;
    for (const std::vector<std::string_view>& names : choices) {
        const bool all = std::all_of(names.begin(), names.end(), [this](std::string_view name) { return has(name); });
        complete += all ? 1 : 0;
        known += fmt::format("{}{}", known.empty() ? "" : " or ", fmt::join(names, " and "));
    }
    if (complete != 1) {
        throw Error(ErrorCode::invalid_params, fmt::format("{}: expected {}, found {}", path_, known,
                                                           complete == 0 ? "neither" : "more than one"));
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
