#pragma once
// `stored_rules_problem` is why the user's stored rules cannot be read, while which nothing is allowed.

#include "base/error.hpp"

#include <optional>
#include <string>

namespace cellgate::gate {

// Of user.json in this directory, which need not exist. May block.
std::optional<Error> stored_rules_problem(const std::string& directory);

} // namespace cellgate::gate
