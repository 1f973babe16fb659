#include "near_miss.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cellgate::tools {

namespace {

constexpr std::array<std::string_view, 12> our_fields = {"type",    "command", "args",    "env", "cwd",     "roots",
                                                         "builtin", "inputs",  "sandbox", "url", "headers", "oauth"};

// Other words for ours, some of them other programs'.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> aliases = {{{"environment", "env"},
                                                                                   {"arguments", "args"},
                                                                                   {"cmd", "command"},
                                                                                   {"workingDirectory", "cwd"},
                                                                                   {"httpUrl", "url"},
                                                                                   {"serverUrl", "url"},
                                                                                   {"httpHeaders", "headers"},
                                                                                   {"requestHeaders", "headers"}}};

// A field of other programs that is one slip from ours.
constexpr std::string_view not_oauth = "auth";

constexpr std::size_t shortest_with_slips = 4;

bool same_letters(std::string_view a, std::string_view b) {
    return lower(a) == lower(b);
}

// Whether one letter more, less or changed, or two that changed places, make one the other.
bool is_one_slip(std::string_view one, std::string_view other) {
    const std::string lower_one = lower(one);
    const std::string lower_other = lower(other);
    std::string_view a = lower_one;
    std::string_view b = lower_other;
    while (!a.empty() && !b.empty() && a.front() == b.front()) {
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    while (!a.empty() && !b.empty() && a.back() == b.back()) {
        a.remove_suffix(1);
        b.remove_suffix(1);
    }
    const bool swapped = a.size() == 2 && b.size() == 2 && a[0] == b[1] && a[1] == b[0];
    return swapped || (a.size() <= 1 && b.size() <= 1);
}

} // namespace

std::optional<std::string_view> near_miss(std::string_view field) {
    if (field == not_oauth || std::find(our_fields.begin(), our_fields.end(), field) != our_fields.end()) {
        return std::nullopt;
    }
    for (const auto& [alias, ours] : aliases) {
        if (same_letters(field, alias)) {
            return ours;
        }
    }
    for (const std::string_view ours : our_fields) {
        const bool may_slip = field.size() >= shortest_with_slips && ours.size() >= shortest_with_slips;
        if (same_letters(field, ours) || (may_slip && is_one_slip(field, ours))) {
            return ours;
        }
    }
    return std::nullopt;
}

} // namespace cellgate::tools
