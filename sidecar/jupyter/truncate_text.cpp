#include "truncate_text.hpp"

#include <fmt/format.h>

namespace cellgate::jupyter {

namespace {

bool begins_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

} // namespace

std::string truncate_text(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) {
        return std::string(text);
    }
    constexpr std::size_t max_mark_bytes = 64;
    const std::size_t half = max_bytes > max_mark_bytes ? (max_bytes - max_mark_bytes) / 2 : 0;
    std::size_t head = half;
    while (head > 0 && !begins_character(text[head])) {
        --head;
    }
    std::size_t tail = text.size() - half;
    while (tail < text.size() && !begins_character(text[tail])) {
        ++tail;
    }
    return fmt::format("{}[\u2026 {} bytes cut \u2026]{}", text.substr(0, head), tail - head, text.substr(tail));
}

} // namespace cellgate::jupyter
