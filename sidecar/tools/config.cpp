#include "tools/config.hpp"

#include "base/enum_name.hpp"
#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"
#include "base/fingerprint.hpp"
#include "config_inputs.hpp"
#include "oauth_settings.hpp"
#include "sandbox/home.hpp"
#include "server_errors.hpp"
#include "srt_command.hpp"
#include "tools/program_folders.hpp"
#include "tools/workspace_programs.hpp"
#include "variables.hpp"
#include "web_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>

namespace cellgate::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_name_bytes = 128;
constexpr std::array<std::string_view, 7> inherited = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG"};
constexpr std::string_view url_types[] = {"http", "sse", "streamable-http", "streamable_http", "streamableHttp"};

bool has_nul(const std::string& text) {
    return text.find('\0') != std::string::npos;
}

bool is_control(char c) {
    const auto code = static_cast<unsigned char>(c);
    return code < 0x20 || code == 0x7f;
}

void require_name(const std::string& name) {
    if (name.empty() || name.size() > max_name_bytes || std::any_of(name.begin(), name.end(), is_control)) {
        throw invalid_config(
            name, fmt::format("expected a name of 1 to {} bytes without control characters", max_name_bytes));
    }
    if (name == host_server_name || name == saved_server_name) {
        throw invalid_config(name, "the name belongs to the built-in server", "Give it another name.");
    }
    if (name == kernel_server_name) {
        throw invalid_config(name, "the name stands for a kernel of the workspace", "Give it another name.");
    }
}

void require_command(const std::string& name, const protocol::McpServerConfig& config) {
    if (config.command->empty()) {
        throw invalid_config(name, "expected a command, found an empty text");
    }
    if (config.type && *config.type != "stdio") {
        throw invalid_config(name, fmt::format("expected the type \"stdio\" beside a command, found \"{}\"",
                                               escape_unprintable(config.type->substr(0, 40))));
    }
    if (config.command->starts_with("http://") || config.command->starts_with("https://")) {
        throw invalid_config(name, "expected a program as the command, found a URL",
                             "A server at a URL is named by its \"url\"; on the command line, by --url URL.");
    }
    bool nul = has_nul(*config.command) || has_nul(config.cwd.value_or(""));
    for (const std::string& argument : config.args.value_or(std::vector<std::string>{})) {
        nul = nul || has_nul(argument);
    }
    for (const auto& [variable, value] : config.env.value_or(Environment{})) {
        nul = nul || has_nul(value);
        if (variable.empty() || variable.find('=') != std::string::npos || has_nul(variable)) {
            throw invalid_config(
                name, fmt::format("expected the name of a variable, found \"{}\"", escape_unprintable(variable)));
        }
    }
    if (nul) {
        throw invalid_config(name, "expected texts without NUL characters");
    }
}

void require_url(const std::string& name, const protocol::McpServerConfig& config) {
    if (!config.url->starts_with("http://") && !config.url->starts_with("https://")) {
        throw invalid_config(name, fmt::format("expected a URL that starts with http:// or https://, found \"{}\"",
                                               escape_unprintable(config.url->substr(0, 200))));
    }
    if (config.type && std::find(std::begin(url_types), std::end(url_types), *config.type) == std::end(url_types)) {
        throw invalid_config(name, fmt::format("expected the type \"http\" or \"sse\" beside a URL, found \"{}\"",
                                               escape_unprintable(config.type->substr(0, 40))));
    }
    if (config.sandbox) {
        throw invalid_config(name, "expected a \"sandbox\" beside a command only: what is at a URL runs elsewhere");
    }
}

std::string absolute(const std::string& path, const std::string& base) {
    return (std::filesystem::path(base) / path).lexically_normal();
}

// The absolute path of a command, or the command when none is found.
std::string resolve(const std::string& command, const std::string& cwd, const Environment& environment) {
    return command.find('/') != std::string::npos ? absolute(command, cwd)
                                                  : find_program(command, environment).value_or(command);
}

// A configuration as it is run.
struct Form {
    protocol::McpServerConfig config; // its command is what runs, in the sandbox or not
    bool sandboxed = false;
    sandbox::Isolation isolation = sandbox::default_isolation;
    std::optional<std::string> settings; // the file, as it is written
    bool by_srt = false;                 // whose settings need not be named
};

std::vector<std::string> argv_of(const protocol::McpServerConfig& config) {
    std::vector<std::string> argv = config.args.value_or(std::vector<std::string>{});
    argv.insert(argv.begin(), *config.command);
    return argv;
}

// Throws Error{config_invalid}.
sandbox::Isolation isolation_for(const std::string& server, std::optional<protocol::SandboxLauncher> launcher) {
    const std::string_view name = enum_name(launcher.value_or(protocol::SandboxLauncher::bwrap));
    const sandbox::Isolation isolation = sandbox::find_isolation(name).value();
    if (!sandbox::traits_of(isolation).mounts || !sandbox::traits_of(isolation).own_network) {
        throw invalid_config(server, fmt::format("its sandbox cannot be made by {}, which is for kernels alone", name),
                             "Name bwrap or gvisor, or leave \"launcher\" out.");
    }
    return isolation;
}

// Throws Error{config_invalid}.
Form form_of(const ServerSpec& spec) {
    Form form;
    form.config = spec.config;
    form.config.sandbox.reset();
    if (spec.config.sandbox) {
        if (spec.config.sandbox->image || !is_empty(spec.config.sandbox->additions)) {
            throw invalid_config(
                spec.name, "expected \"sandbox\" to be true, false or an object with launcher and configFile alone",
                "What more it may see is allowed by the file's filesystem.allowRead and allowWrite.");
        }
        form.sandboxed = spec.config.sandbox->isolated;
        form.isolation = isolation_for(spec.name, spec.config.sandbox->launcher);
        form.settings = spec.config.sandbox->config_file;
    }
    if (spec.config.builtin) {
        form.config = web_server_command(std::move(form.config));
        form.sandboxed = true;
        return form;
    }
    if (!spec.config.command) {
        return form;
    }
    std::optional<SrtCommand> srt;
    try {
        srt = parse_srt_command(argv_of(spec.config));
    } catch (const Error& error) {
        throw invalid_config(spec.name, error.message, error.hint);
    }
    if (!srt) {
        return form;
    }
    if (spec.config.sandbox) {
        throw invalid_config(spec.name,
                             "its command is srt's, which says by which settings it runs in the sandbox, and so "
                             "does its \"sandbox\"",
                             "Leave one of them out.");
    }
    form.sandboxed = true;
    form.by_srt = true;
    form.settings = std::move(srt->settings);
    form.config.command = srt->argv.front();
    form.config.args.emplace(srt->argv.begin() + 1, srt->argv.end());
    return form;
}

std::vector<std::string> names_of(const protocol::McpServerConfig& config) {
    std::set<std::string> names;
    const auto collect = [&names](std::string_view text) {
        replace_variables(text, [&names](const Variable& variable) {
            if (variable.kind == Variable::Kind::environment) {
                names.insert(variable.name);
            }
            return std::string();
        });
    };
    collect(config.command.value_or(""));
    collect(config.cwd.value_or(""));
    for (const std::string& argument : config.args.value_or(std::vector<std::string>{})) {
        collect(argument);
    }
    for (const auto& [name, value] : config.env.value_or(Environment{})) {
        names.insert(name);
        collect(value);
    }
    return {names.begin(), names.end()};
}

std::string identity_of(const ServerSpec& spec, const ServerDescription& described, const std::string& workspace) {
    Fingerprint text;
    if (spec.config.url) {
        text.add("url");
        text.add(described.url);
        text.add_all(described.header_names);
        // Another value is another account.
        for (const auto& [name, value] : described.headers.value_or(Environment{})) {
            text.add(name);
            text.add(value);
        }
        if (spec.config.oauth && requires_approval(spec.source)) {
            text.add("oauth");
            text.add(to_json(*spec.config.oauth));
        }
        return text.hash();
    }
    text.add("command");
    text.add_all(described.command);
    text.add(described.cwd);
    text.add_all(described.environment_names);
    add_workspace_programs(text, described.command, described.cwd, workspace);
    if (described.problem) {
        text.add("not usable");
        text.add(described.problem->message);
    }
    if (described.sandbox) {
        text.add("sandbox");
        text.add(described.sandbox->settings ? described.sandbox->settings->file : "");
        text.add(described.sandbox->settings ? described.sandbox->settings->text : "");
        text.add_all(described.sandbox->folders);
        if (described.sandbox->isolation != sandbox::default_isolation) {
            text.add(sandbox::traits_of(described.sandbox->isolation).name);
        }
    }
    if (requires_approval(spec.source)) {
        // Another value is another program as soon as the name is NODE_OPTIONS.
        for (const auto& [name, value] : spec.config.env.value_or(Environment{})) {
            text.add(name);
            text.add(value);
        }
    }
    return text.hash();
}

std::string value_of(const Variable& variable, const std::string& server, const std::string& workspace,
                     const Environment& environment, const GivenValues& given) {
    switch (variable.kind) {
    case Variable::Kind::workspace_folder:
        return workspace;
    case Variable::Kind::environment: {
        const auto entry = environment.find(variable.name);
        if (entry != environment.end() && !(variable.has_default && entry->second.empty())) {
            return entry->second;
        }
        if (variable.has_default) {
            return variable.default_value;
        }
        throw invalid_config(
            server, fmt::format("it needs the variable {}, which is not set", variable.name),
            fmt::format("Set it where cellgate is started; or `cellgate secret add {0}`, and write ${{secret:{0}}}; or "
                        "write ${{{0}:-default}}.",
                        variable.name));
    }
    case Variable::Kind::input:
        if (const auto entry = given.inputs.find(variable.name); entry != given.inputs.end()) {
            return entry->second;
        }
        throw invalid_config(server,
                             fmt::format("its input \"{}\" is not known here", escape_unprintable(variable.name)),
                             "A user is asked for it when the server starts.");
    case Variable::Kind::secret:
        if (const auto entry = given.secrets.find(variable.name); entry != given.secrets.end()) {
            return entry->second;
        }
        throw invalid_config(server, fmt::format("its secret {} is not known here", variable.name),
                             "It is looked up when the server starts.");
    case Variable::Kind::other:
        break;
    }
    throw unknown_variable(variable, server);
}

std::shared_ptr<const sandbox::Settings> read_settings_of(const std::string& server, const std::string& file) {
    try {
        return sandbox::read_settings(file);
    } catch (const Error& error) {
        throw invalid_config(server, error.message, error.hint);
    }
}

// By which settings it runs in the sandbox, if by any. Throws Error{config_invalid}.
std::shared_ptr<const sandbox::Settings> settings_of(const Form& form, const std::string& server,
                                                     const std::string& workspace, const Environment& environment) {
    if (form.settings) {
        const std::string file = replace_variables(*form.settings, [&](const Variable& each) {
            if (each.kind == Variable::Kind::input || each.kind == Variable::Kind::secret) {
                throw unknown_variable(each, server); // the settings are read before a user is asked
            }
            return value_of(each, server, workspace, environment, {});
        });
        return read_settings_of(server, absolute(sandbox::without_tilde(file, environment), workspace));
    }
    if (!form.by_srt) {
        return nullptr;
    }
    const auto home = environment.find("HOME");
    const std::string file = absolute(srt_settings_name, home == environment.end() ? "/" : home->second);
    if (std::error_code error; fs::exists(fs::symlink_status(file, error))) {
        return read_settings_of(server, file);
    }
    auto settings = std::make_shared<sandbox::Settings>(sandbox::parse_settings(srt_settings, file));
    settings->notices.push_back(fmt::format("{} does not exist: srt's own settings hold, by which it can write nothing",
                                            escape_unprintable(file)));
    return settings;
}

} // namespace

void require_usable(const ServerSpec& spec) {
    require_name(spec.name);
    require_usable_oauth(spec);
    if (spec.source == protocol::ToolServerSource::agent && spec.config.inputs) {
        throw invalid_config(spec.name,
                             "expected no \"inputs\" in what an agent names: no user is asked for its values");
    }
    if (spec.config.builtin) {
        require_web_server(spec.name, spec.config);
        return;
    }
    if (spec.config.command.has_value() == spec.config.url.has_value()) {
        throw invalid_config(spec.name, spec.config.url ? "expected a command or a url, found both"
                                                        : "expected a command or a url, found neither");
    }
    if (spec.config.command) {
        require_command(spec.name, spec.config);
        const Form form = form_of(spec);
        if (form.by_srt) {
            require_command(spec.name, form.config);
        }
        if (form.sandboxed && has_variables(with_workspace(*form.config.command, {}))) {
            throw invalid_config(
                spec.name,
                fmt::format("in the sandbox, what is shown depends on its program, and {} is not known yet",
                            escape_unprintable(form.config.command->substr(0, max_name_bytes))),
                "Write the program's name or path without variables; its arguments may have some.");
        }
    } else {
        require_url(spec.name, spec.config);
    }
}

bool names_settings(const ServerSpec& spec) {
    const Form form = form_of(spec);
    return form.settings || form.by_srt;
}

ServerDescription describe(const ServerSpec& spec, const std::string& workspace, const Environment& environment) {
    const Form form = form_of(spec);
    ServerDescription described;
    try {
        require_known_variables(spec);
    } catch (const Error& error) {
        described.problem = error;
    }
    if (spec.config.url) {
        described.url = with_workspace(*spec.config.url, workspace);
        for (const auto& [name, value] : spec.config.headers.value_or(Environment{})) {
            described.header_names.push_back(name);
        }
        if (requires_approval(spec.source)) {
            described.headers = spec.config.headers;
        }
        described.identity = identity_of(spec, described, workspace);
        return described;
    }
    described.cwd = with_workspace(form.config.cwd.value_or("${workspaceFolder}"), workspace);
    if (!has_variables(described.cwd)) {
        described.cwd = absolute(described.cwd, workspace);
    }
    described.environment_names = names_of(form.config);
    if (requires_approval(spec.source)) {
        described.environment = form.config.env;
    }
    if (form.config.command) {
        std::string command = with_workspace(*form.config.command, workspace);
        described.command.push_back(has_variables(command) ? command : resolve(command, described.cwd, environment));
        for (const std::string& argument : form.config.args.value_or(std::vector<std::string>{})) {
            described.command.push_back(with_workspace(argument, workspace));
        }
    }
    if (form.sandboxed) {
        described.sandbox.emplace();
        described.sandbox->folders = program_folders(described.command.front(), environment, workspace);
        described.sandbox->isolation = form.isolation;
        try {
            if (spec.config.builtin) {
                add_web_server(spec.name, described.command.front(), *described.sandbox);
            } else {
                described.sandbox->settings = settings_of(form, spec.name, workspace, environment);
            }
        } catch (const Error& error) {
            described.problem = error;
        }
    }
    described.identity = identity_of(spec, described, workspace);
    return described;
}

ServerCommand expand(const ServerSpec& spec, const ServerDescription& described, const std::string& workspace,
                     const Environment& environment, const GivenValues& given) {
    const auto put_in = [&](std::string_view text) {
        return replace_variables(text, [&](const Variable& variable) {
            return value_of(variable, spec.name, workspace, environment, given);
        });
    };
    const protocol::McpServerConfig config = form_of(spec).config;
    ServerCommand command;
    command.cwd = absolute(put_in(config.cwd.value_or("${workspaceFolder}")), workspace);
    // From the configuration, not from the description: a workspace's path may itself hold what looks like a variable.
    const std::string program = put_in(*config.command);
    command.argv.push_back(has_variables(with_workspace(*config.command, workspace))
                               ? resolve(program, command.cwd, environment)
                               : described.command.front());
    for (const std::string& argument : config.args.value_or(std::vector<std::string>{})) {
        command.argv.push_back(put_in(argument));
    }
    if (described.sandbox) {
        command.environment["PATH"] = path_in_sandbox(environment, described.sandbox->folders);
    } else {
        command.environment = small_environment(environment);
    }
    for (const auto& [name, value] : config.env.value_or(Environment{})) {
        command.environment[name] = put_in(value);
    }
    if (!command.argv.front().starts_with('/')) {
        throw Error(ErrorCode::tool_server_failed,
                    fmt::format("the tool server \"{}\" cannot be started: there is no program \"{}\" in PATH",
                                escape_unprintable(spec.name), escape_unprintable(described.command.front())),
                    "Install it, or write its whole path.");
    }
    return command;
}

std::string expand_url(const ServerSpec& spec, const std::string& workspace, const Environment& environment,
                       const GivenValues& given) {
    return replace_variables(*spec.config.url, [&](const Variable& variable) {
        return value_of(variable, spec.name, workspace, environment, given);
    });
}

mcp::HttpEndpoint expand_endpoint(const ServerSpec& spec, const std::string& workspace, const Environment& environment,
                                  const GivenValues& given) {
    const auto put_in = [&](std::string_view text) {
        return replace_variables(text, [&](const Variable& variable) {
            return value_of(variable, spec.name, workspace, environment, given);
        });
    };
    mcp::HttpEndpoint endpoint;
    endpoint.url = expand_url(spec, workspace, environment, given);
    for (const auto& [name, value] : spec.config.headers.value_or(Environment{})) {
        endpoint.fields.emplace_back(name, put_in(value));
    }
    return endpoint;
}

OAuthSettings expand_oauth(const ServerSpec& spec, const std::string& workspace, const Environment& environment,
                           const GivenValues& given) {
    const auto put_in = [&](std::string_view text) {
        return replace_variables(text, [&](const Variable& variable) {
            return value_of(variable, spec.name, workspace, environment, given);
        });
    };
    const protocol::OAuthConfig oauth = spec.config.oauth.value_or(protocol::OAuthConfig{});
    OAuthSettings settings;
    settings.client_id = put_in(oauth.client_id.value_or(""));
    settings.client_secret = put_in(oauth.client_secret.value_or(""));
    settings.client_credentials = oauth.grant_type == protocol::OAuthGrantType::client_credentials;
    for (const std::string& scope : oauth.scopes.value_or(std::vector<std::string>{})) {
        settings.scopes.push_back(put_in(scope));
    }
    settings.callback_port = static_cast<std::uint16_t>(oauth.callback_port.value_or(0));
    return settings;
}

Environment small_environment(const Environment& environment) {
    Environment small;
    for (const std::string_view name : inherited) {
        if (const auto entry = environment.find(std::string(name)); entry != environment.end()) {
            small.insert(*entry);
        }
    }
    return small;
}

} // namespace cellgate::tools
