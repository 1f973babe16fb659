#include "cells.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_codec.hpp"
#include "file_language.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace cellgate::cli {

namespace {

std::string_view without_indent(std::string_view line) {
    return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

// What follows the `%%` of a separator; nothing for any other line.
std::optional<std::string_view> separator_text(std::string_view line) {
    for (const std::string_view comment : {"#", "//", "--"}) {
        if (!line.starts_with(comment)) {
            continue;
        }
        const std::string_view rest = without_indent(line.substr(comment.size()));
        if (rest.starts_with("%%")) {
            return rest.substr(2);
        }
    }
    return std::nullopt;
}

std::vector<std::string_view> words_in_brackets(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t open = text.find('['); open != std::string_view::npos; open = text.find('[', open + 1)) {
        const std::size_t close = text.find(']', open);
        if (close == std::string_view::npos) {
            break;
        }
        words.push_back(text.substr(open + 1, close - open - 1));
    }
    return words;
}

// The languages in brackets, as "[bash]"; other words in brackets are a part of the title.
std::optional<std::string> named_language(std::string_view text) {
    for (const std::string_view word : words_in_brackets(text)) {
        if (std::optional<std::string> language = language_of_name(word)) {
            return language;
        }
    }
    return std::nullopt;
}

// The seconds of "timeout=10", a word by itself.
std::optional<double> named_timeout(std::string_view text) {
    constexpr std::string_view name = "timeout=";
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        const std::string_view word =
            text.substr(at + name.size(), text.substr(at + name.size()).find_first_of(" \t\r\n"));
        double seconds = 0;
        const auto [end, error] =
            std::from_chars(word.data(), word.data() + word.size(), seconds, std::chars_format::fixed);
        const bool begins_a_word = at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t');
        if (begins_a_word && error == std::errc() && end == word.data() + word.size() && seconds > 0) {
            return seconds;
        }
    }
    return std::nullopt;
}

bool is_blank(std::string_view code) {
    return code.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

struct CellgateMetadata {
    std::optional<double> timeout;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("timeoutSeconds", self.timeout);
    }
};

struct CellMetadata {
    std::optional<CellgateMetadata> cellgate;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("cellgate", self.cellgate);
    }
};

struct NotebookCell {
    std::string cell_type;
    std::optional<RawJson> source; // a string, or its lines
    std::optional<CellMetadata> metadata;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("cell_type", self.cell_type);
        visit("source", self.source);
        visit("metadata", self.metadata);
    }
};

struct NotebookLanguage {
    std::optional<std::string> name;     // language_info's
    std::optional<std::string> language; // kernelspec's

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("language", self.language);
    }
};

struct NotebookMetadata {
    std::optional<NotebookLanguage> language_info;
    std::optional<NotebookLanguage> kernelspec;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("language_info", self.language_info);
        visit("kernelspec", self.kernelspec);
    }
};

struct Notebook {
    std::int64_t nbformat = 0;
    std::optional<NotebookMetadata> metadata;
    std::vector<NotebookCell> cells;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("nbformat", self.nbformat);
        visit("metadata", self.metadata);
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

Notebook read_notebook(std::string_view text) {
    Notebook notebook = from_json<Notebook>(RawJson::parse(text), "the notebook");
    if (notebook.nbformat != 4) {
        throw Error(ErrorCode::config_invalid, fmt::format("expected nbformat 4, found {}", notebook.nbformat));
    }
    return notebook;
}

Error no_notebook(const Error& error) {
    return Error(ErrorCode::config_invalid, fmt::format("expected a Jupyter notebook: {}", error.message));
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
        const std::optional<std::string_view> separator = separator_text(line);
        if (!separator) {
            cell.code += line;
            continue;
        }
        finish();
        cell = Cell{{}, number, named_language(*separator), named_timeout(*separator)};
        markdown = separator->find("[markdown]") != std::string_view::npos;
    }
    finish();
    return cells;
}

std::vector<std::string> doubtful_languages(std::string_view text) {
    std::vector<std::string> remarks;
    std::int64_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        const std::optional<std::string_view> separator = separator_text(text.substr(0, end));
        text.remove_prefix(end);
        ++number;
        if (!separator || named_language(*separator)) {
            continue;
        }
        for (const std::string_view word : words_in_brackets(*separator)) {
            if (const std::string nearest = nearest_language(word); !nearest.empty()) {
                remarks.push_back(fmt::format("line {}: [{}] names no language, so that the cell is one of the file's; "
                                              "did you mean [{}]?",
                                              number, word, nearest));
            }
        }
    }
    return remarks;
}

std::vector<Cell> cells_of_notebook(std::string_view text) {
    std::vector<Cell> cells;
    try {
        for (const NotebookCell& each : read_notebook(text).cells) {
            Cell cell{each.cell_type == "code" && each.source ? joined(*each.source) : std::string()};
            const CellMetadata metadata = each.metadata.value_or(CellMetadata{});
            cell.timeout = metadata.cellgate.value_or(CellgateMetadata{}).timeout;
            if (cell.timeout && *cell.timeout <= 0) {
                cell.timeout.reset();
            }
            if (!is_blank(cell.code)) {
                cells.push_back(std::move(cell));
            }
        }
    } catch (const Error& error) {
        throw no_notebook(error);
    }
    return cells;
}

std::optional<std::string> language_of_notebook(std::string_view text) {
    try {
        const NotebookMetadata metadata = read_notebook(text).metadata.value_or(NotebookMetadata{});
        if (metadata.kernelspec && metadata.kernelspec->language) {
            return metadata.kernelspec->language;
        }
        return metadata.language_info ? metadata.language_info->name : std::nullopt;
    } catch (const Error& error) {
        throw no_notebook(error);
    }
}

} // namespace cellgate::cli
