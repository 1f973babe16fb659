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

TEST_CASE("a separator is a comment of the language, and may name another one") {
    CHECK(cells_of("a\n// %%\nb\n-- %%\nc") == Cells{{0, "a\n"}, {2, "b\n"}, {4, "c"}});
    const std::vector<Cell> cells = split_cells("a\n# %% count [bash]\nb\n# %% [1] [ts]\nc\n# %% [todo]\nd\n");
    REQUIRE(cells.size() == 4);
    CHECK_FALSE(cells[0].language);
    CHECK(cells[1].language == "bash");
    CHECK(cells[2].language == "typescript");
    CHECK_FALSE(cells[3].language);
}

TEST_CASE("a separator that misspells a language is remarked, and a title is not") {
    const std::vector<std::string> remarks = doubtful_languages(
        "# %% [basch]\n1\n# %% [bash]\n2\n# %% [todo] [plan]\n3\n# %% [markdown]\n# %% [R] [rubi]\n4\n# %% [pyhton]");
    REQUIRE(remarks.size() == 2);
    CHECK(remarks[0].starts_with("line 1: [basch] names no language"));
    CHECK(remarks[0].ends_with("did you mean [bash]?"));
    CHECK(remarks[1].starts_with("line 10: [pyhton]"));
}

TEST_CASE("a separator may hold a timeout, and so may a notebook's cell") {
    const std::vector<Cell> cells = split_cells("# %% timeout=10\n1\n# %% [bash] timeout=0.5 \n2\n# %% timeout=0\n3\n"
                                                "# %% mytimeout=4\n4\n# %% timeout=5s\n5\n");
    REQUIRE(cells.size() == 5);
    CHECK(cells[0].timeout == 10);
    CHECK(cells[1].timeout == 0.5);
    CHECK(cells[1].language == "bash");
    for (std::size_t i = 2; i < 5; ++i) {
        CHECK_FALSE(cells[i].timeout);
    }
    const std::vector<Cell> notebook = cells_of_notebook(
        R"({"nbformat":4,"cells":[{"cell_type":"code","source":"1","metadata":{"cellgate":{"timeoutSeconds":7},"x":1}},)"
        R"({"cell_type":"code","source":"2","metadata":{"cellgate":{"timeoutSeconds":-1}}}]})");
    REQUIRE(notebook.size() == 2);
    CHECK(notebook[0].timeout == 7);
    CHECK_FALSE(notebook[1].timeout);
}

TEST_CASE("a notebook may name its language") {
    const auto language = [](const std::string& metadata) {
        return language_of_notebook(R"({"nbformat":4,"cells":[],"metadata":)" + metadata + "}");
    };
    CHECK(language(R"({"kernelspec":{"name":"deno","language":"typescript"}})") == "typescript");
    CHECK(language(R"({"language_info":{"name":"R","version":"4"}})") == "R");
    CHECK_FALSE(language("{}"));
    CHECK_FALSE(language_of_notebook(R"({"nbformat":4,"cells":[]})"));
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
