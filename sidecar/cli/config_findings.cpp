#include "config_findings.hpp"

#include "service/settings_files.hpp"
#include "store/directories.hpp"

#include <filesystem>
#include <iterator>

namespace cellgate::cli {

namespace {

sandbox::Finding finding_about(const std::string& path, const ConfigFileContent& options) {
    std::string wrong = options.error;
    for (const ConfiguredOption& each : options.options) {
        if (!each.wrong.empty()) {
            const std::string line = each.from.substr(each.from.rfind(':') + 1);
            wrong += (wrong.empty() ? "line " : "; line ") + line + ": " + each.name + ": " + each.wrong;
        }
    }
    if (!wrong.empty()) {
        return {path, false, wrong, {}};
    }
    std::error_code ignored;
    return {path, true, std::filesystem::exists(path, ignored) ? "can be read" : "not there", {}};
}

} // namespace

std::vector<sandbox::Finding> config_findings(const std::string& path, const ConfigFileContent& options,
                                              const Environment& environment) {
    std::vector<sandbox::Finding> findings = {finding_about(path, options)};
    std::vector<sandbox::Finding> others =
        service::read_settings_files(store::find_directories(environment).config, environment);
    findings.insert(findings.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
    return findings;
}

} // namespace cellgate::cli
