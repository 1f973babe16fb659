#pragma once
// Programs by their names.

#include <map>
#include <optional>
#include <string>

namespace cellgate::tools {

// The absolute path of `name`, which has no slash, by the PATH of `environment`.
std::optional<std::string> find_program(const std::string& name, const std::map<std::string, std::string>& environment);

} // namespace cellgate::tools
