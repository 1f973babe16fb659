#pragma once
// `chosen_id` is the id that a user typed a beginning of.

#include "base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::cli {

// The id of `ids` that `beginning` begins; `beginning` itself where it is too short or begins none, which the sidecar
// then refuses. Throws Error{code} where it begins several; `kind` is what has these ids: "rules".
std::string chosen_id(const std::vector<std::string>& ids, const std::string& beginning, std::string_view kind,
                      ErrorCode code);

} // namespace cellgate::cli
