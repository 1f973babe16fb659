#include "output_records.hpp"

#include <string_view>

namespace cellgate::session {

namespace {

// The bytes of the character or escape at `at` inside a JSON string; both halves of a surrogate pair are one.
std::size_t unit_length(std::string_view content, std::size_t at) {
    const auto byte = static_cast<unsigned char>(content[at]);
    if (byte == '\\') {
        if (content[at + 1] != 'u') {
            return 2;
        }
        const bool surrogate = (content[at + 2] == 'd' || content[at + 2] == 'D') && content[at + 3] >= '8';
        return surrogate ? 12 : 6;
    }
    return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

// The inside of a JSON string in pieces of at most `max_bytes`, each valid as the inside of one.
std::vector<std::string_view> cut(std::string_view content, std::size_t max_bytes) {
    std::vector<std::string_view> pieces;
    std::size_t start = 0;
    for (std::size_t at = 0; at < content.size();) {
        const std::size_t length = unit_length(content, at);
        if (at + length - start > max_bytes) {
            pieces.push_back(content.substr(start, at - start));
            start = at;
        }
        at += length;
    }
    pieces.push_back(content.substr(start));
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
        records.push_back(RawJson::checked(record));
    }
    return records;
}

} // namespace cellgate::session
