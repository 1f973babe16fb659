#include "output_records.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <string_view>

namespace cellgate::session {

namespace {

// The bytes of the escape at `at` inside a JSON string; both halves of a surrogate pair are one.
std::size_t escape_length(std::string_view content, std::size_t at) {
    if (content[at + 1] != 'u') {
        return 2;
    }
    const bool surrogate = (content[at + 2] == 'd' || content[at + 2] == 'D') && content[at + 3] >= '8';
    return surrogate ? 12 : 6;
}

// The last offset up to `limit` that is inside no character and no escape. Steps from escape to escape, not from byte
// to byte: all that code prints passes here.
std::size_t last_boundary(std::string_view content, std::size_t limit) {
    const std::string_view searched = content.substr(0, limit);
    std::size_t from = 0;
    while (true) {
        const std::size_t escape = std::min(searched.find('\\', from), limit);
        if (escape == limit) {
            while (limit > from && !begins_character(content[limit])) {
                --limit;
            }
            return limit;
        }
        const std::size_t after = escape + escape_length(content, escape);
        if (after > limit) {
            return escape;
        }
        from = after;
    }
}

// The inside of a JSON string in pieces of at most `max_bytes` (at least 12), each valid as the inside of one.
std::vector<std::string_view> cut(std::string_view content, std::size_t max_bytes) {
    std::vector<std::string_view> pieces;
    while (content.size() > max_bytes) {
        const std::size_t end = last_boundary(content, max_bytes);
        pieces.push_back(content.substr(0, end));
        content.remove_prefix(end);
    }
    pieces.push_back(content);
    return pieces;
}

} // namespace

std::vector<RawJson> to_records(const jupyter::Output& output, std::size_t max_bytes) {
    if (output.type != jupyter::OutputType::stream || output.body.text().size() <= max_bytes) {
        return {output.body};
    }
    std::string before = "{";
    std::string_view text;
    for (const auto& [key, value] : json_members(output.body.text())) {
        if (key == "text") {
            text = value;
            continue;
        }
        append_json_string(before, key);
        before += ':';
        before += value;
        before += ',';
    }
    if (json_type(text.empty() ? "null" : text) != "string") {
        return {output.body};
    }
    std::vector<RawJson> records;
    for (const std::string_view piece : cut(text.substr(1, text.size() - 2), max_bytes)) {
        std::string record = before + "\"text\":\"";
        record += piece;
        record += "\"}";
        records.push_back(RawJson::checked(std::move(record)));
    }
    return records;
}

} // namespace cellgate::session
