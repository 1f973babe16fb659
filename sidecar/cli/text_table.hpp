#pragma once
// `text_table` is rows as aligned columns, for a terminal: safe to show.

#include <string>
#include <vector>

namespace cellgate::cli {

// The first row is the headings; each has as many cells. The last column is as wide as it is.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

} // namespace cellgate::cli
