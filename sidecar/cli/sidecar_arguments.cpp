#include "sidecar_arguments.hpp"

#include "mcp_config_file.hpp"
#include "rule_argument.hpp"
#include "sandbox/launcher.hpp"

namespace cellgate::cli {

void SidecarArguments::add_to(CLI::App& command) {
    command.add_option("--root", root, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    command.add_option("--allow", allow, rule_help)->type_name("RULE")->allow_extra_args(false);
    command
        .add_option("--mcp-config", mcp_config,
                    "MCP servers that code may call, as {\"mcpServers\": {...}}. Naming the "
                    "file allows starting them; each call is still asked about")
        ->check(CLI::ExistingFile.description({}))
        ->type_name("FILE");
    command.add_option("--trace", trace, "Append every message to FILE, as JSON lines")->type_name("FILE");
}

service::SidecarOptions SidecarArguments::options() const {
    service::SidecarOptions options;
    options.root = root;
    options.environment = sandbox::process_environment();
    for (const std::string& rule : allow) {
        options.rules.push_back(parse_allow_rule(rule));
    }
    if (!mcp_config.empty()) {
        options.tool_servers = read_mcp_config(mcp_config);
    }
    if (!trace.empty()) {
        options.trace_file = trace;
    }
    return options;
}

} // namespace cellgate::cli
