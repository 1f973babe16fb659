#pragma once
// What is done to texts again and again: letters in lower case, blanks at the ends, parts, and characters of UTF-8.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate {

// With the letters of ASCII in lower case; all others stay.
std::string lower(std::string_view text);

// The part of `text` between the `blanks` at its ends, which are those of a line of HTTP.
std::string_view trim(std::string_view text, std::string_view blanks = " \t");

// What is between the separators, also where it is empty: one more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator);

// Whether this byte of UTF-8 is the first one of a character.
constexpr bool begins_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

std::size_t count_characters(std::string_view text);

// The beginning of `text`, of at most so many bytes, that ends with a whole character.
std::string_view cut_at_character(std::string_view text, std::size_t max_bytes);

} // namespace cellgate
