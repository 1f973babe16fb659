#pragma once
// `check_json` is a strict check of JSON text (RFC 8259) that builds no values: exactly one value, in UTF-8, without
// duplicate keys or lone surrogates, nested no deeper than the limit. The other functions find the parts of text known
// to be valid. Two readers that interpret a message differently are a way around the gate, so nothing lenient is
// accepted.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellgate {

struct JsonLimits {
    std::size_t max_depth = 256;
    std::size_t max_bytes = std::size_t{64} << 20;
};

struct JsonProblem {
    std::string what; // "the key \"path\" twice in one object"
    std::size_t offset;
};

// Nothing when `text` is one valid JSON value within `limits` (white space around it is allowed).
std::optional<JsonProblem> check_json(std::string_view text, const JsonLimits& limits = {});

// The functions below take valid JSON text only.

std::string_view trim_json(std::string_view text);
// The value of a JSON string, escapes resolved.
std::string decode_json_string(std::string_view text);
// Keys (decoded) and values (trimmed slices of `text`) of an object, in order.
std::vector<std::pair<std::string, std::string_view>> json_members(std::string_view object);
std::vector<std::string_view> json_elements(std::string_view array);
// The value of a member; empty if `text` is no object, or has no such member.
std::string_view json_member(std::string_view text, std::string_view name);
// The same for a string; nothing if the member is none.
std::optional<std::string> json_member_text(std::string_view text, std::string_view name);
// "object", "array", "string", "number", "boolean" or "null".
std::string_view json_type(std::string_view text);

// Appends `text` (UTF-8; a broken byte becomes U+FFFD) as a JSON string.
void append_json_string(std::string& out, std::string_view text);

} // namespace cellgate
