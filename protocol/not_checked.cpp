#include "protocol/not_checked.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace cellgate::protocol {

std::optional<Diagnostic> not_checked(const ValidateResult& result) {
    if (!result.checkers.empty()) {
        return std::nullopt;
    }
    const std::vector<std::string> missing = result.missing.value_or(std::vector<std::string>{});
    Diagnostic found;
    found.end_column = 1;
    found.severity = Severity::error;
    found.rule = "not_checked";
    found.message = missing.empty() ? "not checked" : fmt::format("not checked: needs {}", fmt::join(missing, "; "));
    return found;
}

} // namespace cellgate::protocol
