#pragma once
// `apply_edits` changes code as findings about it propose.

#include "protocol/messages/kernels.hpp"

#include <string>
#include <vector>

namespace cellgate::protocol {

// Applies the edits that do not overlap an earlier one; false if there are none.
bool apply_edits(std::string& text, const std::vector<Diagnostic>& findings);

} // namespace cellgate::protocol
