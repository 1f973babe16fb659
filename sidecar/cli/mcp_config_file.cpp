#include "mcp_config_file.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "tools/config.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <optional>

namespace cellgate::cli {

namespace {

bool is_file_of(const std::string& workspace, const std::string& path) {
    std::error_code ignored;
    return std::filesystem::equivalent(path, workspace + "/.mcp.json", ignored) ||
           std::filesystem::equivalent(path, workspace + "/.vscode/mcp.json", ignored);
}

} // namespace

std::map<std::string, protocol::McpServerConfig> read_mcp_config(const std::string& path,
                                                                 const std::string& workspace) {
    const std::optional<std::string> text = read_file(path);
    if (!text) {
        throw system_error(ErrorCode::config_invalid, fmt::format("cannot read {}", path), errno);
    }
    const tools::ConfigFile config = tools::parse_config(*text, path);
    if (!config.problems.empty() && config.servers.empty()) {
        throw Error(ErrorCode::config_invalid, config.problems.front());
    }
    if (!is_file_of(workspace, path)) { // whose problems the sidecar says
        for (const std::string& problem : config.problems) {
            log_warning("{}", problem);
        }
    }
    std::map<std::string, protocol::McpServerConfig> servers;
    for (const tools::ServerSpec& spec : config.servers) {
        servers[spec.name] = spec.config;
    }
    return servers;
}

} // namespace cellgate::cli
