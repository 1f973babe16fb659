#include "cells.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace cellgate::cli {

namespace {

std::string_view without_indent(std::string_view line) {
    return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

bool is_separator(std::string_view line) {
    return line.starts_with('#') && without_indent(line.substr(1)).starts_with("%%");
}

bool is_blank(std::string_view code) {
    return code.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

struct NotebookCell {
    std::string cell_type;
    std::optional<RawJson> source; // a string, or its lines

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("cell_type", self.cell_type);
        visit("source", self.source);
    }
};

struct Notebook {
    std::int64_t nbformat = 0;
    std::vector<NotebookCell> cells;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("nbformat", self.nbformat);
        visit("cells", self.cells);
    }
};

std::string joined(const RawJson& source) {
    if (json_type(source.text()) == "string") {
        return from_json<std::string>(source, "source");
    }
    std::string text;
    for (const std::string& line : from_json<std::vector<std::string>>(source, "source")) {
        text += line;
    }
    return text;
}

} // namespace

std::vector<Cell> split_cells(std::string_view text) {
    std::vector<Cell> cells;
    Cell cell;
    bool markdown = false;
    const auto finish = [&] {
        if (!is_blank(cell.code) && !markdown) {
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

std::vector<Cell> cells_of_notebook(std::string_view text) {
    std::vector<Cell> cells;
    try {
        const Notebook notebook = from_json<Notebook>(RawJson::parse(text), "the notebook");
        if (notebook.nbformat != 4) {
            throw Error(ErrorCode::config_invalid, fmt::format("expected nbformat 4, found {}", notebook.nbformat));
        }
        for (const NotebookCell& each : notebook.cells) {
            Cell cell{each.cell_type == "code" && each.source ? joined(*each.source) : std::string(), 0};
            if (!is_blank(cell.code)) {
                cells.push_back(std::move(cell));
            }
        }
    } catch (const Error& error) {
        throw Error(ErrorCode::config_invalid, fmt::format("expected a Jupyter notebook: {}", error.message));
    }
    return cells;
}

} // namespace cellgate::cli
