#pragma once
// `split_cells` and `cells_of_notebook` are parsers of a file into cells: a file of code, divided by `# %%` or `// %%`
// lines as in editors, or a Jupyter notebook.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::cli {

struct Cell {
    std::string code;
    std::int64_t line = 0; // of the first line of code in the file, from 0; in a notebook, in its cell
    std::optional<std::string> language = std::nullopt; // that its separator names: `# %% [bash]`
    std::optional<double> timeout = std::nullopt;       // seconds: `# %% timeout=10`, or of a notebook's metadata
};

// Text before the first separator is a cell too. Markdown cells and empty cells are left out.
std::vector<Cell> split_cells(std::string_view text);

// A remark for each separator that seems to name a language, in brackets, and misspells it: its cell is the file's.
std::vector<std::string> doubtful_languages(std::string_view text);

// The code cells of a notebook (nbformat 4), without empty ones. Throws Error{config_invalid}.
std::vector<Cell> cells_of_notebook(std::string_view text);
// That its metadata names, if any. Throws Error{config_invalid}.
std::optional<std::string> language_of_notebook(std::string_view text);

} // namespace cellgate::cli
