#include "truncate_text.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace cellgate::jupyter {

std::string truncate_text(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) {
        return std::string(text);
    }
    constexpr std::size_t max_mark_bytes = 64;
    const std::size_t half = max_bytes > max_mark_bytes ? (max_bytes - max_mark_bytes) / 2 : 0;
    const std::string_view head = cut_at_character(text, half);
    std::size_t tail = text.size() - half;
    while (tail < text.size() && !begins_character(text[tail])) {
        ++tail;
    }
    return fmt::format("{}[\u2026 {} bytes cut \u2026]{}", head, tail - head.size(), text.substr(tail));
}

} // namespace cellgate::jupyter
