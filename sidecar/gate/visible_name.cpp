#include "visible_name.hpp"

#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

namespace cellgate::gate {

std::string in_quotes(std::string_view text) {
    std::string escaped;
    escaped.reserve(text.size() + 2);
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            escaped += '\\';
        }
        escaped += c;
    }
    return fmt::format("\"{}\"", escape_unprintable(escaped));
}

std::string visible_name(std::string_view text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./*@";
    return text.empty() || text.find_first_not_of(plain) != std::string_view::npos ? in_quotes(text)
                                                                                   : std::string(text);
}

} // namespace cellgate::gate
