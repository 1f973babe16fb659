#pragma once
// `problem_of_npm_package` accepts what may be named for an install of npm's packages: `npm:`, a name, maybe with a
// scope, and maybe a version, a tag or a range of one. The same as NpmPackage of schemas/protocol.json.

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::packages {

inline constexpr std::string_view npm_prefix = "npm:";

// In words, for a sentence that goes on from "found …"; nothing when it may be named.
std::optional<std::string> problem_of_npm_package(std::string_view text);

} // namespace cellgate::packages
