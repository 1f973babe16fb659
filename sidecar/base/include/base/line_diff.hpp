#pragma once
// line_diff() is the shortest list of removed and added lines that makes one text another (Myers, "An O(ND) Difference
// Algorithm and Its Variations", 1986).

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate {

struct DiffLine {
    char sign = ' '; // '-': only before, '+': only after
    std::string_view text;
    friend bool operator==(const DiffLine&, const DiffLine&) = default;
};

// All lines, which point into the arguments. Where lines were replaced, the removed ones come first. Texts of more than
// 2000 lines, or with more than 1000 different ones, are not compared: all of one is removed and all of the other
// added.
std::vector<DiffLine> line_diff(const std::vector<std::string>& before, const std::vector<std::string>& after);

// Those lines with `context` unchanged ones on each side; " …" where lines are left out between them.
std::vector<DiffLine> near_changes(const std::vector<DiffLine>& all, std::size_t context);

} // namespace cellgate
