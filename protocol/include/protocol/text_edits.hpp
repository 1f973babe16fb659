#pragma once
// `mend` changes code as findings about it propose.

#include "protocol/messages/kernels.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cellgate::protocol {

// Applies the edits of each finding of which none overlaps one of an earlier finding. The findings that it mended, by
// their place in `findings`.
std::vector<std::size_t> mend(std::string& text, const std::vector<Diagnostic>& findings);
// As mend(); false if there was nothing to mend.
bool apply_edits(std::string& text, const std::vector<Diagnostic>& findings);

} // namespace cellgate::protocol
