#include "cells.hpp"

#include <doctest/doctest.h>

using namespace cellgate::cli;

namespace {

std::vector<std::pair<std::int64_t, std::string>> cells_of(std::string_view text) {
    std::vector<std::pair<std::int64_t, std::string>> cells;
    for (const Cell& cell : split_cells(text)) {
        cells.emplace_back(cell.line, cell.code);
    }
    return cells;
}

using Cells = std::vector<std::pair<std::int64_t, std::string>>;

} // namespace

TEST_CASE("a file is divided where editors divide it, and each cell knows its line") {
    CHECK(cells_of("a\n# %%\nb\nc\n#%% title\nd") == Cells{{0, "a\n"}, {2, "b\nc\n"}, {5, "d"}});
    CHECK(cells_of("# %%\r\nx\r\n") == Cells{{1, "x\r\n"}});
    CHECK(cells_of("#\t%%\nx") == Cells{{1, "x"}});
}

TEST_CASE("what is no separator is code") {
    const std::string text = "x = '# %%'\n  # %%\n%%time\n# 100 %%\n";
    CHECK(cells_of(text) == Cells{{0, text}});
}

TEST_CASE("cells with nothing in them and markdown are left out, without moving the others") {
    CHECK(cells_of("").empty());
    CHECK(cells_of("\n \t\n# %%\n\n# %%\n").empty());
    CHECK(cells_of("# %% [markdown]\n# words\n# %%\nx\n") == Cells{{3, "x\n"}});
}
