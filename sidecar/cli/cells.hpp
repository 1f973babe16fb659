#pragma once
// A file as cells: a Python file, divided by `# %%` lines as editors do, or a Jupyter notebook.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::cli {

struct Cell {
    std::string code;
    std::int64_t line = 0; // of the code's first line in the file, from 0; in a notebook, in its cell
};

// What stands before the first `# %%` is a cell too. Markdown cells and cells with nothing in them are left out.
std::vector<Cell> split_cells(std::string_view text);

// The code cells of a notebook (nbformat 4), without those that have nothing in them. Throws Error{config_invalid}.
std::vector<Cell> cells_of_notebook(std::string_view text);

} // namespace cellgate::cli
