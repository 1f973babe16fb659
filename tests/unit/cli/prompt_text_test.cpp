#include "prompt_text.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <vector>

using namespace cellgate::cli;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

} // namespace

TEST_CASE("a short line follows the margin") {
    CHECK(prompt_lines("path: \"notes.txt\"", 80) == "  path: \"notes.txt\"\n");
    CHECK(prompt_lines("", 80) == "  \n");
}

TEST_CASE("lines break between words where they can") {
    CHECK(prompt_lines("3  any read_file of host, this session", 30) ==
          "  3  any read_file of host, \n  \u21b3 this session\n");
    CHECK(prompt_lines("a xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 22) == "  a xxxxxxxxxxxxxxxxx\n  \u21b3 xxxxxxxxxxxxx\n");
}

TEST_CASE("no text reaches the left edge, however narrow the terminal is") {
    // Padded so that a terminal of some width would break it before the imitation.
    for (std::size_t columns = 1; columns < 130; ++columns) {
        CAPTURE(columns);
        const std::string text = std::string(columns, ' ') + "== cellgate asks ==" + std::string(columns, 'x') +
                                 "\xe4\xbd\xa0\xe5\xa5\xbd\xe5\x90\x97" + std::string(columns, 'y');
        std::string joined;
        const std::size_t width = std::max<std::size_t>(columns, 20);
        for (const std::string& line : lines_of(prompt_lines(text, columns))) {
            CHECK(line.starts_with(joined.empty() ? "  " : "  \u21b3 "));
            CHECK(line.size() < width + 4); // three bytes of a sign take two columns
            joined += line.substr(joined.empty() ? 2 : 6);
        }
        CHECK(joined == text);
    }
}
