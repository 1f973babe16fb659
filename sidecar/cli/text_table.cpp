#include "text_table.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"

#include <algorithm>
#include <cstddef>

namespace cellgate::cli {

namespace {

std::size_t code_points(std::string_view text) {
    std::size_t count = 0;
    for (; !text.empty(); ++count) {
        text.remove_prefix(decode_utf8(text).length);
    }
    return count;
}

} // namespace

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::vector<std::string>> cells;
    std::vector<std::size_t> widths(rows.front().size());
    for (const std::vector<std::string>& row : rows) {
        std::vector<std::string>& shown = cells.emplace_back();
        for (std::size_t i = 0; i < row.size(); ++i) {
            shown.push_back(escape_unprintable(row[i]));
            widths[i] = std::max(widths[i], code_points(shown[i]));
        }
    }
    std::string text;
    for (const std::vector<std::string>& row : cells) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += row[i];
            text += i + 1 == row.size() ? "\n" : std::string(widths[i] - code_points(row[i]) + 2, ' ');
        }
    }
    return text;
}

} // namespace cellgate::cli
