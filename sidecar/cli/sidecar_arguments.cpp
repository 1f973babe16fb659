#include "sidecar_arguments.hpp"

#include "base/environment.hpp"
#include "mcp_config_file.hpp"
#include "rule_argument.hpp"

#include <fmt/format.h>

namespace cellgate::cli {

namespace {

class UsageWithServerCommand final : public CLI::Formatter {
  public:
    std::string make_usage(const CLI::App* app, std::string name) const override {
        std::string usage = CLI::Formatter::make_usage(app, std::move(name));
        usage.erase(usage.find_last_not_of('\n') + 1);
        return usage + " [-- COMMAND...]\n";
    }
};

} // namespace

void show_forms(CLI::App& command, const std::string& meaning) {
    command.formatter(std::make_shared<UsageWithServerCommand>());
    command.footer("COMMAND...\n  " + meaning + "\n\n" + rule_help);
}

void SidecarArguments::add_to(CLI::App& command) {
    command.add_option("--root", workspace, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    command.add_option("--allow", allow, "Allow these calls without asking; see below. May be given more than once")
        ->type_name("RULE")
        ->allow_extra_args(false);
    command
        .add_option("--mcp-config", mcp_config,
                    "MCP servers that code may call, as {\"mcpServers\": {...}}. Naming the "
                    "file allows starting them; each call is still asked about")
        ->check(CLI::ExistingFile.description({}))
        ->type_name("FILE");
    command.add_option("--url", url, "Where the tool server is that is named, if it is one over HTTP")
        ->type_name("URL");
    command
        .add_option(
            "--header", headers,
            "Of its requests, as 'Authorization: Bearer ${TOKEN}', into which cellgate puts the variable. May be "
            "given more than once")
        ->type_name("HEADER")
        ->allow_extra_args(false);
    command.add_option("--trace", trace, "Append every message to FILE, as JSON lines")->type_name("FILE");
}

void SidecarArguments::take_server_command(Invocation& invocation) {
    invocation.takes_server_command = true;
    server_command = invocation.server_command;
    if (server_command && server_command->empty()) {
        throw CLI::ValidationError("--", "expected the command that starts the tool server behind it");
    }
    if (server_command && server.empty()) {
        throw CLI::ValidationError("--", "expected --server NAME, the name of the tool server that the command starts");
    }
    if (!url.empty() && (server.empty() || server_command)) {
        throw CLI::ValidationError("--url", server.empty() ? "expected the name of the tool server that is there"
                                                           : "expected a URL or a command, found both");
    }
    if (!headers.empty() && url.empty()) {
        throw CLI::ValidationError("--header", "expected --url, which says where they are sent");
    }
    for (const std::string& header : headers) {
        if (header.find(':') == std::string::npos) {
            throw CLI::ValidationError("--header", fmt::format("expected NAME: VALUE, found \"{}\"", header));
        }
    }
}

service::SidecarOptions SidecarArguments::options() const {
    service::SidecarOptions options;
    options.workspace = workspace;
    options.environment = process_environment();
    for (const std::string& rule : allow) {
        options.rules.push_back(parse_allow_rule(rule));
    }
    if (!mcp_config.empty()) {
        options.tool_servers = read_mcp_config(mcp_config);
    }
    if (server_command) {
        protocol::McpServerConfig& config = options.tool_servers[server];
        config = {};
        config.command = server_command->front();
        config.args = std::vector<std::string>(server_command->begin() + 1, server_command->end());
    }
    if (!url.empty()) {
        protocol::McpServerConfig& config = options.tool_servers[server];
        config = {};
        config.url = url;
        for (const std::string& header : headers) {
            const std::size_t colon = header.find(':');
            const std::size_t value = header.find_first_not_of(' ', colon + 1);
            std::map<std::string, std::string>& all = config.headers ? *config.headers : config.headers.emplace();
            all[header.substr(0, colon)] = value == std::string::npos ? std::string() : header.substr(value);
        }
    }
    if (!trace.empty()) {
        options.trace_file = trace;
    }
    return options;
}

std::vector<std::string> SidecarArguments::words() const {
    std::vector<std::string> words;
    if (workspace != ".") {
        words.insert(words.end(), {"--root", workspace});
    }
    if (!mcp_config.empty()) {
        words.insert(words.end(), {"--mcp-config", mcp_config});
    }
    if (server_command) {
        words.insert(words.end(), {"--server", server, "--"});
        words.insert(words.end(), server_command->begin(), server_command->end());
    }
    if (!url.empty()) {
        words.insert(words.end(), {"--server", server, "--url", url});
    }
    for (const std::string& header : headers) {
        words.insert(words.end(), {"--header", header});
    }
    return words;
}

} // namespace cellgate::cli
