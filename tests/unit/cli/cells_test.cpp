#include "base/error.hpp"
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

TEST_CASE("a notebook's code cells are its cells, however their source is written") {
    const auto cells = cells_of_notebook(R"nb({"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[
        {"cell_type":"markdown","source":"# words"},
        {"cell_type":"code","source":["a = 1\n","print(a)"],"outputs":[{"a":1}]},
        {"cell_type":"code","source":" \n"},
        {"cell_type":"code","source":"b = 'é'"}]})nb");
    REQUIRE(cells.size() == 2);
    CHECK(cells[0].code == "a = 1\nprint(a)");
    CHECK(cells[1].code == "b = 'é'");
}

TEST_CASE("what is no notebook is refused with what was expected") {
    for (const char* text : {"", "print(1)", "[]", R"({"nbformat":3,"worksheets":[]})", R"({"nbformat":3,"cells":[]})",
                             R"({"nbformat":4,"cells":[{"cell_type":"code","source":1}]})"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(cells_of_notebook(text), cellgate::Error);
    }
}

TEST_CASE("cells with nothing in them and markdown are left out, without moving the others") {
    CHECK(cells_of("").empty());
    CHECK(cells_of("\n \t\n# %%\n\n# %%\n").empty());
    CHECK(cells_of("# %% [markdown]\n# words\n# %%\nx\n") == Cells{{3, "x\n"}});
}
