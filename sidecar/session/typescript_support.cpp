#include "typescript_support.hpp"

#include "base/json.hpp"
#include "packages/npm_packages.hpp"
#include "typescript_failures.hpp"

#include <fmt/format.h>

namespace cellgate::session {

KernelLaunch TypescriptSupport::launch(const LaunchPlace& place, Environment environment) const {
    KernelLaunch launch = PlainSupport::launch(place, std::move(environment));
    launch.environment.emplace("DENO_NO_UPDATE_CHECK", "1"); // it would connect by itself
    launch.environment.emplace("DENO_NO_PROMPT", "1");
    launch.packages = packages::NpmPackages(place.directories, place.workspace).shown();
    launch.node_modules = true;
    // Deno publishes idle, results and what is printed from three tasks. console.log() ends in this function, too.
    launch.print_function = "globalThis.Deno[globalThis.Deno.internal].core.print";
    return launch;
}

std::optional<std::string> TypescriptSupport::chdir_code(const std::string& directory) const {
    std::string literal;
    append_json_string(literal, directory);
    return fmt::format("Deno.chdir({})", literal);
}

FailureCauses TypescriptSupport::causes_of(const Failure& failure) const {
    return causes_of_typescript(failure);
}

} // namespace cellgate::session
