#include "cut_output.hpp"

#include "base/json_scan.hpp"
#include "base/text.hpp"
#include "output_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace cellgate::agent {

namespace {

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

void add_string(std::string& out, std::string_view value, const Kept& kept) {
    const std::string text = decode_json_string(value);
    const std::size_t count = count_characters(text);
    const auto [from, to] = left_out(count, kept.characters);
    if (from == to) {
        out += value;
        return;
    }
    append_json_string(out, text.substr(0, bytes_of_characters(text, from)) +
                                fmt::format("… {} characters left out …", to - from) +
                                text.substr(bytes_of_characters(text, to)));
}

// Numbers and names stay as they are written.
void add_shortened(std::string& out, std::string_view value, const Kept& kept) {
    const std::string_view type = json_type(value);
    if (type == "string") {
        add_string(out, value, kept);
        return;
    }
    const bool is_object = type == "object";
    if (!is_object && type != "array") {
        out += value;
        return;
    }
    std::vector<std::string> names; // of an object's
    std::vector<std::string_view> items;
    if (is_object) {
        for (auto& [name, item] : json_members(value)) {
            names.push_back(std::move(name));
            items.push_back(item);
        }
    } else {
        items = json_elements(value);
    }
    const auto [from, to] = left_out(items.size(), kept.items);
    out += is_object ? '{' : '[';
    for (std::size_t at = 0; at < items.size(); ++at) {
        out += at > 0 ? "," : "";
        if (at == from && from < to) {
            out += is_object ? R"("…":)" : "";
            out += fmt::format(R"("… {} of {} items left out …")", to - from, items.size());
            at = to - 1;
            continue;
        }
        if (is_object) {
            append_json_string(out, names[at]);
            out += ':';
        }
        add_shortened(out, items[at], kept);
    }
    out += is_object ? '}' : ']';
}

} // namespace

std::optional<std::string> cut_json(std::string_view text, std::size_t characters) {
    const std::string_view value = trim_json(text);
    const bool may_be_one = value.starts_with('{') || value.starts_with('[');
    if (!may_be_one || check_json(value)) {
        return std::nullopt;
    }
    constexpr std::size_t fewest_items = 2;
    constexpr std::size_t shortest = 40;
    for (Kept kept{512, 4096}; kept.items >= fewest_items; kept.items /= 2) {
        std::string cut;
        add_shortened(cut, value, kept);
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
