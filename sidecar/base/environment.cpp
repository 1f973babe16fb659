#include "base/environment.hpp"

#include <algorithm>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate {

Environment process_environment() {
    Environment result;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        std::string_view text = *entry;
        std::size_t equals = text.find('=');
        if (equals != std::string_view::npos) {
            result.emplace(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return result;
}

std::vector<std::string> search_path(const Environment& environment) {
    std::vector<std::string> directories;
    const auto entry = environment.find("PATH");
    std::string_view rest = entry == environment.end() ? std::string_view() : entry->second;
    while (!rest.empty()) {
        const std::string_view directory = rest.substr(0, rest.find(':'));
        if (directory.starts_with('/')) {
            directories.emplace_back(directory);
        }
        rest.remove_prefix(std::min(directory.size() + 1, rest.size()));
    }
    return directories;
}

bool is_program(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_program(const std::string& name, const Environment& environment) {
    for (const std::string& directory : search_path(environment)) {
        if (std::string path = directory + "/" + name; is_program(path)) {
            return path;
        }
    }
    return std::nullopt;
}

} // namespace cellgate
