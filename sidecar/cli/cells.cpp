#include "cells.hpp"

#include <algorithm>

namespace cellgate::cli {

namespace {

std::string_view without_indent(std::string_view line) {
    return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

bool is_separator(std::string_view line) {
    return line.starts_with('#') && without_indent(line.substr(1)).starts_with("%%");
}

} // namespace

std::vector<Cell> split_cells(std::string_view text) {
    std::vector<Cell> cells;
    Cell cell;
    bool markdown = false;
    const auto finish = [&] {
        const bool blank = cell.code.find_first_not_of(" \t\r\n") == std::string::npos;
        if (!blank && !markdown) {
            cells.push_back(cell);
        }
    };
    std::int64_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end);
        ++number;
        if (!is_separator(line)) {
            cell.code += line;
            continue;
        }
        finish();
        cell = Cell{{}, number};
        markdown = line.find("[markdown]") != std::string_view::npos;
    }
    finish();
    return cells;
}

} // namespace cellgate::cli
