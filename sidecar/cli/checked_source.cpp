#include "checked_source.hpp"

#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace cellgate::cli {

namespace {

std::int64_t lines_of(const std::string& code) {
    return std::count(code.begin(), code.end(), '\n');
}

// Where a place is in the text, whose columns are code points; nothing behind its end.
std::optional<std::size_t> offset_of(const std::string& text, std::int64_t line, std::int64_t column) {
    std::size_t at = 0;
    for (; line > 0; --line) {
        at = text.find('\n', at);
        if (at == std::string::npos) {
            return std::nullopt;
        }
        ++at;
    }
    for (; column > 0 && at < text.size() && text[at] != '\n'; --column) {
        ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) {
            ++at;
        }
    }
    return at;
}

} // namespace

CheckedSource::CheckedSource(SourceFile file, const std::string& language) : file_(std::move(file)) {
    if (!language.empty()) {
        file_.language = language;
    }
    std::int64_t next = 0; // line of a notebook's next cell
    std::map<std::string, std::string> texts;
    for (const Cell& cell : file_.cells) {
        const std::int64_t first = file_.is_notebook ? next : cell.line;
        if (file_.is_notebook) {
            cell_lines_.push_back(first);
            next += lines_of(cell.code) + 1;
        }
        std::string& text = texts[cell.language.value_or(file_.language)];
        text.append(static_cast<std::size_t>(first - lines_of(text)), '\n');
        text += cell.code;
        if (!text.ends_with('\n')) {
            text += '\n';
        }
    }
    for (auto& [name, text] : texts) {
        pieces_.push_back({name, std::move(text)});
    }
}

std::string CheckedSource::place_of(const std::string& path, const protocol::Diagnostic& found) const {
    const std::string shown = escape_unprintable(path);
    if (!file_.is_notebook) {
        return fmt::format("{}:{}:{}", shown, found.line + 1, found.column + 1);
    }
    const auto behind = std::upper_bound(cell_lines_.begin(), cell_lines_.end(), found.line);
    const auto cell = std::max<std::ptrdiff_t>(1, behind - cell_lines_.begin());
    return fmt::format("{}: cell {}, line {}", shown, cell,
                       found.line - cell_lines_[static_cast<std::size_t>(cell - 1)] + 1);
}

bool CheckedSource::apply(const std::vector<protocol::Diagnostic>& findings) {
    if (file_.is_notebook) {
        return false;
    }
    std::vector<std::tuple<std::size_t, std::size_t, std::string>> changes; // begin, end, new text
    for (const protocol::Diagnostic& found : findings) {
        for (const protocol::TextEdit& edit : found.edits.value_or(std::vector<protocol::TextEdit>{})) {
            const std::optional<std::size_t> begin = offset_of(file_.text, edit.line, edit.column);
            const std::optional<std::size_t> end = offset_of(file_.text, edit.end_line, edit.end_column);
            const bool overlaps = std::any_of(changes.begin(), changes.end(), [&](const auto& other) {
                return begin && end && *begin < std::get<1>(other) && std::get<0>(other) < *end;
            });
            if (begin && end && *begin <= *end && !overlaps) {
                changes.emplace_back(*begin, *end, edit.new_text);
            }
        }
    }
    std::sort(changes.begin(), changes.end());
    for (auto each = changes.rbegin(); each != changes.rend(); ++each) {
        const auto& [begin, end, text] = *each;
        file_.text.replace(begin, end - begin, text);
    }
    return !changes.empty();
}

} // namespace cellgate::cli
