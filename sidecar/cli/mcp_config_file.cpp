#include "mcp_config_file.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "tools/config.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <optional>

namespace cellgate::cli {

std::map<std::string, protocol::McpServerConfig> read_mcp_config(const std::string& path) {
    const std::optional<std::string> text = read_file(path);
    if (!text) {
        throw system_error(ErrorCode::config_invalid, fmt::format("cannot read {}", path), errno);
    }
    const tools::ConfigFile config = tools::parse_config(*text, path);
    if (!config.problems.empty()) {
        throw Error(ErrorCode::config_invalid, config.problems.front());
    }
    std::map<std::string, protocol::McpServerConfig> servers;
    for (const tools::ServerSpec& spec : config.servers) {
        servers[spec.name] = spec.config;
    }
    return servers;
}

} // namespace cellgate::cli
