#pragma once
// `cut_json` shortens a JSON document to what fits into a result, `end_of` takes the end of another text.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::agent {

// An object or array as JSON of at most so many characters: of long arrays and objects the first and the last items, of
// long strings the beginning and the end, and in their middle how much is left out. Nothing if the text is no object or
// array, or if even two items of each are too long.
std::optional<std::string> cut_json(std::string_view text, std::size_t characters);

// At most the last `characters`, whole lines where that takes less than half of them away.
std::string_view end_of(std::string_view text, std::size_t characters);

} // namespace cellgate::agent
