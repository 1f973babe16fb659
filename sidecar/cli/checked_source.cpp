#include "checked_source.hpp"

#include "base/escape_unprintable.hpp"
#include "protocol/text_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace cellgate::cli {

namespace {

std::int64_t lines_of(const std::string& code) {
    return std::count(code.begin(), code.end(), '\n');
}

// Of a cell that begins with a magic such as %%bash, which is about all of it: the magic's name and place.
struct CellMagic {
    std::size_t begin = 0;
    std::size_t end = 0; // of the line
    std::string name;
};

std::optional<CellMagic> magic_of(const std::string& code) {
    CellMagic magic;
    magic.begin = code.find_first_not_of(" \t\n");
    if (magic.begin == std::string::npos || code.compare(magic.begin, 2, "%%") != 0) {
        return std::nullopt;
    }
    magic.end = std::min(code.find('\n', magic.begin), code.size());
    const std::string line = code.substr(magic.begin + 2, magic.end - magic.begin - 2);
    magic.name = line.substr(0, line.find_first_of(" \t"));
    return magic;
}

// Magics that run the rest of the cell as the code that it is.
bool runs_cell(const std::string& magic) {
    constexpr std::array names = {"capture", "debug", "memit", "prun", "time", "timeit"};
    return std::find(names.begin(), names.end(), magic) != names.end();
}

// `code` behind as many empty lines as its first one has before it in the file.
void append_at(std::string& text, std::int64_t line, const std::string& code) {
    text.append(static_cast<std::size_t>(line - lines_of(text)), '\n');
    text += code;
    if (!text.ends_with('\n')) {
        text += '\n';
    }
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
        const std::string& spoken = cell.language.value_or(file_.language);
        const std::optional<CellMagic> magic = magic_of(cell.code);
        if (magic && !runs_cell(magic->name)) {
            append_at(pieces_.emplace_back(CheckedPiece{spoken, {}}).code, first, cell.code);
            continue;
        }
        std::string code = cell.code;
        if (magic) {
            code.erase(magic->begin, magic->end - magic->begin);
        }
        append_at(texts[spoken], first, code);
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
