#include "base/text.hpp"

#include <algorithm>

namespace cellgate {

std::string lower(std::string_view text) {
    std::string lowered(text);
    for (char& c : lowered) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return lowered;
}

std::string_view trim(std::string_view text, std::string_view blanks) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(end + 1);
    }
}

std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string_view cut_at_character(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) {
        return text;
    }
    constexpr std::size_t max_following = 3; // bytes of a character; where there are more, it is no UTF-8
    for (std::size_t back = 0; back <= std::min(max_following, max_bytes); ++back) {
        if (begins_character(text[max_bytes - back])) {
            return text.substr(0, max_bytes - back);
        }
    }
    return text.substr(0, max_bytes);
}

} // namespace cellgate
