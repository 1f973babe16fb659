#include "base/suggest.hpp"

#include "base/escape_unprintable.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cellgate {

namespace {

constexpr std::size_t max_names = 20;
constexpr std::size_t max_name_bytes = 64; // that is compared; comparing takes the product of two lengths

// As two names are compared: letters in one case, one sign between words.
std::string folded(std::string_view name) {
    std::string out = lower(name);
    std::replace_if(out.begin(), out.end(), [](char c) { return c == '-' || c == '.' || c == ' '; }, '_');
    return out;
}

// How many characters have to be put in, taken out or changed; two neighbours that changed places count as one.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    std::vector<std::size_t> above = row;
    std::vector<std::size_t> two_above = row;
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::swap(two_above, above);
        std::swap(above, row);
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            row[j + 1] = std::min({above[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, above[j + 1] + 1});
            if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) {
                row[j + 1] = std::min(row[j + 1], two_above[j - 1] + 1);
            }
        }
    }
    return row.back();
}

} // namespace

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names) {
    const std::string like = folded(wanted.substr(0, max_name_bytes));
    std::size_t best = (like.size() + 1) / 3 + 1; // further away it is another word
    std::string nearest;
    for (const std::string& name : names) {
        if (const std::size_t found = distance(like, folded(std::string_view(name).substr(0, max_name_bytes)));
            found < best) {
            best = found;
            nearest = name;
        }
    }
    return nearest;
}

bool is_spelled_like(std::string_view a, std::string_view b) {
    return folded(a) == folded(b);
}

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names) {
    if (names.empty()) {
        return {};
    }
    std::string told;
    for (std::size_t i = 0; i < std::min(names.size(), max_names); ++i) {
        told += (i == 0 ? "" : ", ") + escape_unprintable(names[i]);
    }
    const std::string nearest = nearest_name(wanted, names);
    return fmt::format("{}There {}: {}{}.",
                       nearest.empty() ? std::string() : fmt::format("Did you mean {}? ", escape_unprintable(nearest)),
                       names.size() == 1 ? "is" : "are", told,
                       names.size() > max_names ? fmt::format(", and {} more", names.size() - max_names) : "");
}

} // namespace cellgate
