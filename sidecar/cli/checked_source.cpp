#include "checked_source.hpp"

#include "base/escape_unprintable.hpp"
#include "protocol/text_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::cli {

namespace {

std::int64_t lines_of(const std::string& code) {
    return std::count(code.begin(), code.end(), '\n');
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

std::vector<std::size_t> CheckedSource::apply(const std::vector<protocol::Diagnostic>& findings) {
    if (file_.is_notebook) {
        return {};
    }
    return protocol::mend(file_.text, findings);
}

} // namespace cellgate::cli
