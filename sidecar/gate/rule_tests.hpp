#pragma once
// `tests` of a rule are arguments that it has to match, and that it must not: they find a rule that does not mean what
// its author meant, also later, when a folder or a link in the workspace is another one.

#include "paths.hpp"
#include "protocol/messages/policy.hpp"

#include <optional>
#include <string>

namespace cellgate::gate {

// Throws Error{rule_invalid}: none at all, too many or too large ones, tests of a rule that is not about tools.
void check_tests(const protocol::Rule& rule);

// The first test that comes out otherwise, in one line that is safe to show: "its test noMatch[0], {"path":"data/x"},
// is matched". Nothing when all hold. Void while paths are unresolved.
std::optional<std::string> failed_test(const protocol::Rule& rule, PathSnapshot& paths);

} // namespace cellgate::gate
