#include "tools/host_program.hpp"

#include "base/paths.hpp"

#include <filesystem>

namespace cellgate::tools {

std::optional<std::string> find_host_program(const std::string& name, const Environment& environment,
                                             const std::string& workspace) {
    for (const std::string& entry : search_path(environment)) {
        std::error_code error;
        const std::filesystem::path directory = std::filesystem::canonical(entry, error);
        if (name.empty() || error || is_within(directory.native(), workspace)) {
            continue;
        }
        const std::filesystem::path program = directory / name;
        const std::filesystem::path file = std::filesystem::canonical(program, error);
        if (!error && !is_within(file.native(), workspace) && is_program(file)) {
            return program.string();
        }
    }
    return std::nullopt;
}

} // namespace cellgate::tools
