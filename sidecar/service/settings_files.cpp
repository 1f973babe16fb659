#include "service/settings_files.hpp"

#include "agent_limits.hpp"
#include "base/error.hpp"
#include "gate/stored_rules.hpp"
#include "profiles.hpp"
#include "record_settings.hpp"

#include <filesystem>
#include <functional>
#include <optional>

namespace cellgate::service {

namespace {

sandbox::Finding finding_about(const std::string& path, const std::function<void()>& read) {
    std::error_code ignored;
    sandbox::Finding finding{path, true, std::filesystem::exists(path, ignored) ? "can be read" : "not there", {}};
    try {
        read();
    } catch (const Error& error) {
        const std::string before = path + ": "; // the finding's subject says it
        const bool names_it = error.message.starts_with(before);
        finding = {path, false, names_it ? error.message.substr(before.size()) : error.message, error.hint};
    }
    return finding;
}

void read_rules(const std::string& directory) {
    if (const std::optional<Error> problem = gate::stored_rules_problem(directory)) {
        throw Error(*problem);
    }
}

} // namespace

std::vector<sandbox::Finding> read_settings_files(const std::string& directory, const Environment& environment) {
    const std::string profiles = directory + "/profiles.json";
    const std::string agents = directory + "/agents.json";
    const std::string record = directory + "/record.json";
    return {finding_about(directory + "/policy/user.json", [&] { read_rules(directory + "/policy"); }),
            finding_about(profiles, [&] { const Profiles read(profiles); }),
            finding_about(agents, [&] { read_agent_settings(agents, environment); }),
            finding_about(record, [&] { read_record_settings(record); })};
}

} // namespace cellgate::service
