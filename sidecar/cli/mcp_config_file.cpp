#include "mcp_config_file.hpp"

#include "base/error.hpp"
#include "tools/config.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace cellgate::cli {

std::map<std::string, protocol::McpServerConfig> read_mcp_config(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) {
        throw Error(ErrorCode::config_invalid, fmt::format("cannot read {}", path));
    }
    const tools::ConfigFile config = tools::parse_config(text.str(), path);
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
