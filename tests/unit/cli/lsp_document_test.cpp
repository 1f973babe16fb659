// The parts of `cellgate lsp`: where cells are, where lines go when a document changes, what clients write.

#include "lsp/client_connection.hpp"
#include "lsp/document.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace cellgate::cli::lsp;

TEST_CASE("a line belongs to the cell whose code it is, or which begins behind it") {
    const Document document("python", "a = 1\n\n# %% [bash]\n\necho 1\n# %% [markdown]\nwords\n# %%\nb\n");
    REQUIRE(document.cells().size() == 3);
    const std::vector<std::pair<std::int64_t, std::int64_t>> cells = {{0, 0}, {1, 0}, {2, 3}, {4, 3}, {6, 7}, {8, 8}};
    for (const auto& [line, first] : cells) {
        CAPTURE(line);
        const cellgate::cli::Cell* const cell = document.cell_at(line);
        REQUIRE(cell != nullptr);
        if (line != 6 && line != 8) {
            CHECK(document.span_of(*cell).first == first);
        } else {
            CHECK(document.span_of(*cell).last == 8);
        }
    }
    CHECK(document.language_of(document.cells()[0]) == "python");
    CHECK(document.language_of(document.cells()[1]) == "bash");
}

TEST_CASE("without a language of kernels there are no cells") {
    CHECK(Document("plaintext", "# %%\na\n").cells().empty());
    CHECK(Document("", "a\n").cells().empty());
    CHECK(Document("sh", "a\n").cells().size() == 1);
}

TEST_CASE("a line's range counts units of UTF-16, and a line that is not there is the last") {
    const Document document("python", "aé\U0001F600\nb");
    const Range first = document.range_of(0);
    CHECK(first.start.character == 0);
    CHECK(first.end.character == 4);
    CHECK(document.range_of(9).start.line == 1);
}

TEST_CASE("lines before and after a change stay what they are") {
    const LineMove inserted("a\nb\nc\n", "a\nnew\nnew\nb\nc\n");
    CHECK(inserted(0) == 0);
    CHECK(inserted(1) == 3);
    CHECK(inserted(2) == 4);
    const LineMove removed("a\nb\nc\nd", "a\nd");
    CHECK(removed(0) == 0);
    CHECK(removed(2) == 1); // it is gone
    CHECK(removed(3) == 1);
    const LineMove repeated("x\nx\nx", "x\nx\nx\nx");
    CHECK(repeated(0) == 0);
    const LineMove same("a\nb", "a\nb");
    CHECK(same(1) == 1);
    const LineMove all("a", "b\nc\n");
    CHECK(all(0) == 0);
}

TEST_CASE("params that are null are left out, and nothing else is changed") {
    CHECK(without_null_params(R"({"jsonrpc":"2.0","id":1,"method":"shutdown","params":null})") ==
          R"({"jsonrpc":"2.0","id":1,"method":"shutdown"})");
    for (const char* text : {R"({"id": 1, "params": {"a": null}})", R"({"id":1,"result":null})", "no JSON", "[null]"}) {
        CHECK(without_null_params(text) == text);
    }
}
