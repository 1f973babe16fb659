#include "sidecar_arguments.hpp"

#include "argument_error.hpp"
#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"
#include "base/host.hpp"
#include "base/shell_words.hpp"
#include "gate/connection_rule.hpp"
#include "mcp_config_file.hpp"
#include "tools/rule_text.hpp"
#include "value_checks.hpp"
#include "workspace_option.hpp"

#include <fmt/format.h>

#include <algorithm>

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

std::string variable_name(const std::string& variable) {
    return variable.substr(0, variable.find('='));
}

bool is_variable_name(const std::string& name) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

} // namespace

void show_forms(CLI::App& command, const std::string& meaning) {
    command.formatter(std::make_shared<UsageWithServerCommand>());
    command.footer("COMMAND...\n  " + meaning + "\n\n" + tools::rule_help);
}

void SidecarArguments::add_to(CLI::App& command) {
    if (command.get_footer().empty()) {
        command.footer(tools::rule_help);
    }
    add_root(command, workspace);
    command.add_option("--allow", allow, "Allow these calls without asking; see below. May be given more than once")
        ->type_name("RULE")
        ->allow_extra_args(false);
    command
        .add_option("--mcp-config", mcp_config,
                    "MCP servers that code may call, as {\"mcpServers\": {...}}. Naming the "
                    "file allows starting them; each call is still asked about")
        ->check(existing_file())
        ->type_name("FILE");
    command.add_option("--url", url, "The URL of the named tool server, if it is reached over HTTP")
        ->check(http_url())
        ->type_name("URL");
    command
        .add_option(
            "--header", headers,
            "A header of the requests to --url: 'Authorization: Bearer ${TOKEN}'. cellgate puts the variable in. May "
            "be given more than once")
        ->type_name("HEADER")
        ->allow_extra_args(false);
    command
        .add_option("--env", environment,
                    "A variable for the tool server that COMMAND starts. Without =VALUE it is passed on as it is here. "
                    "Values are not shown. May be given more than once")
        ->type_name("NAME[=VALUE]")
        ->allow_extra_args(false);
    command
        .add_option(
            "--allow-domain", allow_domains,
            "Let what runs in the sandbox connect to this host without asking: example.org, *.example.org, "
            "example.org:443; with tcp:// by any protocol, such as a database's: tcp://localhost:5432. May be given "
            "more than once")
        ->check([](const std::string& text) {
            return parse_host_pattern(*gate::connection_rule(protocol::Effect::allow, text).host)
                       ? std::string()
                       : "expected a host such as example.org or *.example.org:443, found " + escape_unprintable(text);
        })
        ->type_name("HOST")
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
    check();
}

void SidecarArguments::check() const {
    if (!url.empty() && (server.empty() || server_command)) {
        throw CLI::ValidationError("--url", server.empty() ? "expected the name of the tool server that is there"
                                                           : "expected a URL or a command, found both");
    }
    if (!headers.empty() && url.empty()) {
        throw CLI::ValidationError("--header", "expected --url, which says where they are sent");
    }
    if (!environment.empty() && !server_command) {
        throw CLI::ValidationError("--env", "expected -- COMMAND... at the end, what starts the server that it is for");
    }
    for (const std::string& variable : environment) {
        const std::string name = variable_name(variable);
        if (!is_variable_name(name)) {
            throw CLI::ValidationError("--env",
                                       fmt::format("expected NAME or NAME=VALUE with a name of letters, digits "
                                                   "and _, found \"{}\"",
                                                   escape_unprintable(name)));
        }
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
    try {
        for (const std::string& rule : allow) {
            options.rules.push_back(tools::parse_allow_rule(rule, std::chrono::system_clock::now()));
        }
    } catch (const Error& error) {
        rethrow_of_typed_rule(error);
    }
    for (const std::string& host : allow_domains) {
        options.rules.push_back(gate::connection_rule(protocol::Effect::allow, host));
    }
    if (!mcp_config.empty()) {
        options.tool_servers = read_mcp_config(mcp_config, workspace);
        for (const auto& [name, config] : options.tool_servers) {
            options.login_options[name] = "--mcp-config " + shell_word(mcp_config);
        }
    }
    if (server_command) {
        protocol::McpServerConfig& config = options.tool_servers[server];
        config = {};
        config.command = server_command->front();
        config.args = std::vector<std::string>(server_command->begin() + 1, server_command->end());
        for (const std::string& variable : environment) {
            const std::string name = variable_name(variable);
            std::map<std::string, std::string>& all = config.env ? *config.env : config.env.emplace();
            all[name] =
                name.size() == variable.size() ? fmt::format("${{{}}}", name) : variable.substr(name.size() + 1);
        }
    }
    if (!url.empty()) {
        protocol::McpServerConfig& config = options.tool_servers[server];
        config = {};
        config.url = url;
        options.login_options[server] = "--url " + shell_word(url);
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
    for (const std::string& host : allow_domains) {
        words.insert(words.end(), {"--allow-domain", host});
    }
    if (server_command) {
        words.insert(words.end(), {"--server", server});
        for (const std::string& variable : environment) {
            words.insert(words.end(), {"--env", variable_name(variable)}); // the value may be a secret
        }
        words.emplace_back("--");
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
