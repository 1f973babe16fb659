#include "sandbox/doctor.hpp"

#include "base/error.hpp"
#include "bwrap_probe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cellgate::sandbox {

std::vector<Finding> examine(const Environment& environment) {
    std::vector<Finding> findings;
    std::string bwrap;
    try {
        bwrap = find_bwrap(bwrap_directories(environment));
        findings.push_back({"bubblewrap", true, fmt::format("{} {}", bwrap, version_of(bwrap)), {}});
    } catch (const Error& error) {
        findings.push_back({"bubblewrap", false, error.message, error.hint});
        return findings;
    }
    try {
        findings.push_back({"sandbox", true, fmt::format("{}", fmt::join(probe(bwrap), ", ")), {}});
    } catch (const Error& error) {
        findings.push_back({"sandbox", false, error.message, error.hint});
    }
    return findings;
}

} // namespace cellgate::sandbox
