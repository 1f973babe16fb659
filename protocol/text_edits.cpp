#include "protocol/text_edits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

namespace cellgate::protocol {

namespace {

// Where a place is in the text, whose columns are code points; nothing behind its end.
std::optional<std::size_t> offset_of(const std::string& text, std::int64_t line, std::int64_t column) {
    std::size_t at = 0;
    for (; line > 0; --line) {
        at = text.find('\n', at);
        if (at == std::string::npos) {
            return std::nullopt;
        }
        ++at;
    }
    for (; column > 0 && at < text.size() && text[at] != '\n'; --column) {
        ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) {
            ++at;
        }
    }
    return at;
}

} // namespace

bool apply_edits(std::string& text, const std::vector<Diagnostic>& findings) {
    std::vector<std::tuple<std::size_t, std::size_t, std::string>> changes; // begin, end, new text
    for (const Diagnostic& found : findings) {
        for (const TextEdit& edit : found.edits.value_or(std::vector<TextEdit>{})) {
            const std::optional<std::size_t> begin = offset_of(text, edit.line, edit.column);
            const std::optional<std::size_t> end = offset_of(text, edit.end_line, edit.end_column);
            const bool overlaps = std::any_of(changes.begin(), changes.end(), [&](const auto& other) {
                return begin && end && *begin < std::get<1>(other) && std::get<0>(other) < *end;
            });
            if (begin && end && *begin <= *end && !overlaps) {
                changes.emplace_back(*begin, *end, edit.new_text);
            }
        }
    }
    std::sort(changes.begin(), changes.end());
    for (auto each = changes.rbegin(); each != changes.rend(); ++each) {
        const auto& [begin, end, new_text] = *each;
        text.replace(begin, end - begin, new_text);
    }
    return !changes.empty();
}

} // namespace cellgate::protocol
