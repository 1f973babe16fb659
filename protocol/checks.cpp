#include "checks.hpp"

#include "base/encoding.hpp"
#include "base/host.hpp"
#include "base/text.hpp"

namespace cellgate::protocol {

bool has_at_most(std::string_view text, std::size_t characters) {
    return text.size() <= characters || count_characters(text) <= characters;
}

bool has_no_nul(std::string_view text) {
    return text.find('\0') == std::string_view::npos;
}

bool has_no_controls(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return code < 0x20 || code == 0x7f;
    });
}

bool is_request_path(std::string_view text) {
    return text.starts_with('/') || text.starts_with('*');
}

bool is_uri(std::string_view text) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const std::string_view scheme = text.substr(0, text.find(':'));
    return scheme.size() < text.size() && !scheme.empty() && is_letter(scheme.front()) &&
           std::all_of(
               scheme.begin(), scheme.end(),
               [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '.' || c == '-'; });
}

bool is_host_pattern(std::string_view text) {
    return parse_host_pattern(text).has_value();
}

bool is_request_id(const RawJson& value) {
    return value.type() == "string" ||
           (value.type() == "number" && value.text().find_first_of(".eE") == std::string::npos);
}

bool is_time(std::string_view text) {
    return parse_rfc3339(text).has_value();
}

bool is_object(const RawJson& value) {
    return value.is_object();
}

} // namespace cellgate::protocol
