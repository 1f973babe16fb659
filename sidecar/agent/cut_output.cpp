#include "cut_output.hpp"

#include "base/json.hpp"
#include "output_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::agent {

namespace {

using OrderedJson = nlohmann::ordered_json; // members stay in their order

constexpr int max_depth = 32;

// How much of each value is kept.
struct Kept {
    std::size_t items;
    std::size_t characters;
};

// Of `count` items those before the first and from the second one on are kept.
std::pair<std::size_t, std::size_t> left_out(std::size_t count, std::size_t kept) {
    const std::size_t last = kept / 4;
    return count > kept ? std::pair(kept - last, count - last) : std::pair(count, count);
}

OrderedJson shortened_string(const OrderedJson& value, const Kept& kept) {
    const auto& text = value.get_ref<const std::string&>();
    const std::size_t count = count_characters(text);
    const auto [from, to] = left_out(count, kept.characters);
    if (from == count) {
        return value;
    }
    return text.substr(0, bytes_of_characters(text, from)) + fmt::format("… {} characters left out …", to - from) +
           text.substr(bytes_of_characters(text, to));
}

OrderedJson shortened(const OrderedJson& value, const Kept& kept, int depth) {
    if (value.is_string()) {
        return shortened_string(value, kept);
    }
    if (!value.is_structured() || value.empty()) {
        return value;
    }
    if (depth == max_depth) {
        return fmt::format("… {} items left out …", value.size());
    }
    const auto [from, to] = left_out(value.size(), kept.items);
    const std::string notice = fmt::format("{} of {} items left out", to - from, value.size());
    OrderedJson result = value.is_array() ? OrderedJson::array() : OrderedJson::object();
    std::size_t at = 0;
    for (const auto& [name, item] : value.items()) {
        if (at == from && from < to && value.is_array()) {
            result.push_back("… " + notice + " …");
        } else if (at == from && from < to) {
            result["…"] = notice;
        }
        if (at < from || at >= to) {
            OrderedJson& place = value.is_array() ? result.emplace_back() : result[name];
            place = shortened(item, kept, depth + 1);
        }
        ++at;
    }
    return result;
}

} // namespace

std::optional<std::string> cut_json(std::string_view text, std::size_t characters) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) {
        return std::nullopt;
    }
    const OrderedJson value = OrderedJson::parse(text, nullptr, false);
    if (value.is_discarded()) {
        return std::nullopt;
    }
    constexpr std::size_t fewest_items = 2;
    constexpr std::size_t shortest = 40;
    for (Kept kept{512, 4096}; kept.items >= fewest_items; kept.items /= 2) {
        std::string cut = shortened(value, kept, 0).dump();
        if (count_characters(cut) <= characters) {
            return cut;
        }
        kept.characters = std::max(kept.characters / 2, shortest);
    }
    return std::nullopt;
}

std::string_view end_of(std::string_view text, std::size_t characters) {
    const std::size_t count = count_characters(text);
    if (count <= characters) {
        return text;
    }
    text.remove_prefix(bytes_of_characters(text, count - characters));
    const std::size_t line = text.find('\n');
    if (line < text.size() / 2) {
        text.remove_prefix(line + 1);
    }
    return text;
}

} // namespace cellgate::agent
