#include "web_server.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_scan.hpp"
#include "mcp/web_address.hpp"
#include "server_errors.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace cellgate::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view builtin_name = "web";
constexpr std::size_t max_shown_name = 40;
constexpr const char* web_program_name = "web.cjs";
constexpr std::uint16_t http_port = 80;
constexpr std::uint16_t https_port = 443;
constexpr const char* searxng_variable = "SEARXNG_URL";
constexpr const char* brave_key_variable = "BRAVE_API_KEY";
constexpr const char* brave_url_variable = "BRAVE_API_URL"; // for another address, such as of a proxy
constexpr const char* brave_url = "https://api.search.brave.com/res/v1/web/search";
// From the folder of cellgate's program: in a package; in a build's folder, and in the folder of all builds.
constexpr std::array share_folders = {"../share/cellgate", "share/cellgate"};

// Where a file is that comes with cellgate. Nothing if it does not.
std::optional<std::string> find_shared_file(const char* name) {
    std::error_code error;
    const fs::path own = fs::canonical("/proc/self/exe", error).parent_path();
    for (const char* folder : share_folders) {
        const fs::path file = (own / folder / name).lexically_normal();
        if (fs::is_regular_file(file, error)) {
            return file.string();
        }
    }
    return std::nullopt;
}

std::vector<Endpoint> endpoints_of_url(std::string_view url) {
    const std::optional<mcp::WebAddress> address = mcp::parse_web_address(url.substr(0, url.find('#')));
    if (!address) {
        return {};
    }
    const Endpoint& named = address->endpoint;
    if (named.port != http_port && named.port != https_port) {
        return {named};
    }
    return {{named.host, http_port}, {named.host, https_port}};
}

} // namespace

void require_web_server(const std::string& server, const protocol::McpServerConfig& config) {
    if (*config.builtin != builtin_name) {
        throw invalid_config(server, fmt::format("expected the built-in server \"{}\", found \"{}\"", builtin_name,
                                                 escape_unprintable(config.builtin->substr(0, max_shown_name))));
    }
    if (config.command || config.args || config.cwd || config.url || config.headers || config.sandbox) {
        throw invalid_config(server,
                             "expected \"builtin\" with \"env\" and \"inputs\" alone: cellgate says how it runs");
    }
}

protocol::McpServerConfig web_server_command(protocol::McpServerConfig given) {
    given.builtin.reset();
    given.command = "node";
    given.args.emplace({find_shared_file(web_program_name).value_or(web_program_name)});
    given.cwd = "/usr"; // which every sandbox has
    return given;
}

void add_web_server(const std::string& server, const std::string& node, ServerIsolation& isolation) {
    const std::optional<std::string> program = find_shared_file(web_program_name);
    if (!program) {
        throw invalid_config(server, "this cellgate was built without its tool server `web`",
                             "`./dev web` builds it, and cellgate's packages have it.");
    }
    if (!node.starts_with('/')) {
        throw invalid_config(server, "it needs Node.js 18 or newer, and there is no program \"node\" in PATH",
                             "Install Debian's package nodejs.");
    }
    isolation.folders.push_back(*program);
    isolation.shows_workspace = false;
}

std::vector<Endpoint> endpoints_of_call(const RawJson& arguments) {
    return endpoints_of_url(json_member_text(arguments.text(), "url").value_or(""));
}

std::vector<Endpoint> search_endpoints(const Environment& environment) {
    const auto value = [&](const char* variable) {
        const auto found = environment.find(variable);
        return found == environment.end() ? std::string() : found->second;
    };
    if (const std::string instance = value(searxng_variable); !instance.empty()) {
        return endpoints_of_url(instance);
    }
    if (value(brave_key_variable).empty()) {
        return {};
    }
    const std::string other = value(brave_url_variable);
    return endpoints_of_url(other.empty() ? brave_url : other);
}

} // namespace cellgate::tools
