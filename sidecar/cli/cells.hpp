#pragma once
// A Python file as cells, divided by `# %%` lines as editors do.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::cli {

struct Cell {
    std::string code;
    std::int64_t line = 0; // of the code's first line in the file, from 0
};

// What stands before the first `# %%` is a cell too. Markdown cells and cells with nothing in them are left out.
std::vector<Cell> split_cells(std::string_view text);

} // namespace cellgate::cli
