#include "packages/installer.hpp"

#include <filesystem>

namespace cellgate::packages {

void Installer::prepare(const std::string&) const {}

Environment chosen_variables(const Environment& environment, VariableNames names) {
    Environment chosen;
    for (const char* name : names) {
        const auto found = environment.find(name);
        if (found != environment.end() && !found->second.empty()) {
            chosen.insert(*found);
        }
    }
    return chosen;
}

std::vector<std::string> existing_files(const Environment& environment, VariableNames names) {
    std::vector<std::string> files;
    for (const auto& [name, value] : chosen_variables(environment, names)) {
        std::error_code error;
        if (value.starts_with('/') && std::filesystem::exists(value, error)) {
            files.push_back(value);
        }
    }
    return files;
}

} // namespace cellgate::packages
