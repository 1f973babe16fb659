#include "find_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::tools {

namespace {

bool is_program(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

} // namespace

std::optional<std::string> find_program(const std::string& name,
                                        const std::map<std::string, std::string>& environment) {
    const auto entry = environment.find("PATH");
    std::string_view rest = entry == environment.end() ? std::string_view() : entry->second;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        // A relative directory would mean another program in another directory.
        if (std::string path = fmt::format("{}/{}", rest.substr(0, end), name);
            path.starts_with('/') && is_program(path)) {
            return path;
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return std::nullopt;
}

} // namespace cellgate::tools
