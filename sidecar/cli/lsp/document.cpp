#include "lsp/document.hpp"

#include "base/encoding.hpp"
#include "file_language.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace cellgate::cli::lsp {

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    std::size_t begin = 0;
    while (true) {
        const std::size_t end = text.find('\n', begin);
        lines.push_back(text.substr(begin, end - begin));
        if (end == std::string_view::npos) {
            return lines;
        }
        begin = end + 1;
    }
}

std::int64_t utf16_length(std::string_view text) {
    constexpr char32_t first_of_two_units = 0x10000;
    std::int64_t length = 0;
    while (!text.empty()) {
        const DecodedCodePoint first = decode_utf8(text);
        length += first.valid && first.code_point >= first_of_two_units ? 2 : 1;
        text.remove_prefix(first.length);
    }
    return length;
}

} // namespace

LineMove::LineMove(std::string_view before, std::string_view after) {
    const std::vector<std::string_view> old_lines = lines_of(before);
    const std::vector<std::string_view> new_lines = lines_of(after);
    const auto [old_at, new_at] = std::mismatch(old_lines.begin(), old_lines.end(), new_lines.begin(), new_lines.end());
    begin_ = old_at - old_lines.begin();
    const auto rest = std::min(old_lines.end() - old_at, new_lines.end() - new_at);
    const auto [old_end, new_end] =
        std::mismatch(old_lines.rbegin(), old_lines.rbegin() + rest, new_lines.rbegin(), new_lines.rbegin() + rest);
    end_ = old_end.base() - old_lines.begin();
    added_ = static_cast<std::int64_t>(new_lines.size()) - static_cast<std::int64_t>(old_lines.size());
}

std::int64_t LineMove::operator()(std::int64_t line) const {
    if (line < begin_) {
        return line;
    }
    return line < end_ ? begin_ : line + added_;
}

Document::Document(const std::string& language, std::string text) : language_(language_of_name(language)) {
    set_text(std::move(text));
}

void Document::set_text(std::string text) {
    text_ = std::move(text);
    cells_ = language_ ? split_cells(text_) : std::vector<Cell>();
}

LineSpan Document::span_of(const Cell& cell) const {
    return {cell.line,
            cell.line + std::count(cell.code.begin(), cell.code.end(), '\n') - (cell.code.ends_with('\n') ? 1 : 0)};
}

const Cell* Document::cell_at(std::int64_t line) const {
    const Cell* found = nullptr;
    for (const Cell& cell : cells_) {
        // A separator, and what is between it and the code, belongs to the cell behind it.
        if (found == nullptr || span_of(*found).last < line) {
            found = &cell;
        }
    }
    return found;
}

std::string Document::language_of(const Cell& cell) const {
    return cell.language.value_or(language_.value_or("python"));
}

Range Document::range_of(std::int64_t line) const {
    const std::vector<std::string_view> lines = lines_of(text_);
    const std::int64_t last = static_cast<std::int64_t>(lines.size()) - 1;
    const std::int64_t shown = std::clamp<std::int64_t>(line, 0, last);
    return {{shown, 0}, {shown, utf16_length(lines[static_cast<std::size_t>(shown)])}};
}

} // namespace cellgate::cli::lsp
