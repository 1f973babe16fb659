#pragma once
// `require_requirements` accepts what may be named for an install: a package as pip names it (PEP 508's name, extras
// and versions), and where source builds are allowed also `name @ https://…` and `name @ git+https://…`. Nothing that
// pip would take for an option, a file, a marker or another URL, and nothing that a user could not read. The same as
// Requirement and DirectRequirement of schemas/protocol.json. `require_packages` is the same for either package
// manager.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::packages {

// In words, for a sentence that goes on from "found …"; nothing when it may be named.
std::optional<std::string> problem_of_requirement(std::string_view text, bool source_builds);

// Throws Error{invalid_params} that names the first one which may not be named, and what was expected.
void require_requirements(const std::vector<std::string>& packages, bool source_builds);

enum class PackageKind { python, npm };

// Of what an install names: packages of npm, or all else. Throws Error{invalid_params}, and Error{unsupported} when it
// names both.
PackageKind require_packages(const std::vector<std::string>& packages, bool source_builds);

} // namespace cellgate::packages
