#include "config_inputs.hpp"

#include "base/escape_unprintable.hpp"
#include "server_errors.hpp"
#include "tools/config.hpp"
#include "variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

namespace cellgate::tools {

namespace {

using protocol::ServerInput;
using protocol::ServerInputType;

void each_variable_of(const protocol::McpServerConfig& config, const std::function<void(const Variable&)>& look) {
    const auto look_through = [&look](std::string_view text) {
        replace_variables(text, [&look](const Variable& variable) {
            look(variable);
            return std::string();
        });
    };
    const protocol::OAuthConfig oauth = config.oauth.value_or(protocol::OAuthConfig{});
    for (const auto& text : {config.url, config.command, config.cwd, oauth.client_id, oauth.client_secret}) {
        look_through(text.value_or(""));
    }
    for (const auto& texts : {config.args, oauth.scopes}) {
        for (const std::string& text : texts.value_or(std::vector<std::string>{})) {
            look_through(text);
        }
    }
    for (const auto& texts : {config.headers, config.env}) {
        for (const auto& [name, text] : texts.value_or(Environment{})) {
            look_through(text);
        }
    }
}

std::set<std::string> names_of_kind(const protocol::McpServerConfig& config, Variable::Kind kind) {
    std::set<std::string> names;
    each_variable_of(config, [&names, kind](const Variable& variable) {
        if (variable.kind == kind) {
            names.insert(variable.name);
        }
    });
    return names;
}

std::set<std::string> named_inputs(const protocol::McpServerConfig& config) {
    return names_of_kind(config, Variable::Kind::input);
}

// Those of the process list.
void require_no_secret_in_sight(const ServerSpec& spec) {
    protocol::McpServerConfig in_sight;
    in_sight.command = spec.config.command;
    in_sight.cwd = spec.config.cwd;
    in_sight.args = spec.config.args;
    const std::set<std::string> names = named_secrets(in_sight);
    if (!names.empty()) {
        throw invalid_config(spec.name,
                             fmt::format("its command line names the secret {}, where every user of this machine could "
                                         "see the value",
                                         *names.begin()),
                             "A secret belongs in \"env\" or \"headers\".");
    }
}

const ServerInput* find_input(const protocol::McpServerConfig& config, const std::string& id) {
    if (!config.inputs) {
        return nullptr;
    }
    const auto found = std::find_if(config.inputs->begin(), config.inputs->end(),
                                    [&id](const ServerInput& input) { return input.id == id; });
    return found == config.inputs->end() ? nullptr : &*found;
}

void require_askable(const ServerSpec& spec, const std::string& id) {
    const ServerInput* input = find_input(spec.config, id);
    const std::string shown = shortened(id, 100);
    if (input == nullptr) {
        throw invalid_config(spec.name, fmt::format("it needs the input \"{}\", which \"inputs\" does not have", shown),
                             fmt::format("Add it to \"inputs\", or write ${{VAR}} in place of ${{input:{}}}.", shown));
    }
    if (input->type == ServerInputType::command) {
        throw invalid_config(
            spec.name, fmt::format("it needs the input \"{}\" of type command, which only VS Code can run", shown),
            "Make it a promptString, or write ${VAR} in its place.");
    }
    if (input->type == ServerInputType::pick_string && !input->options) {
        throw invalid_config(spec.name, fmt::format("expected the input \"{}\" to have options to pick from", shown));
    }
}

} // namespace

std::vector<ServerInput> needed_inputs(const protocol::McpServerConfig& config) {
    std::vector<ServerInput> needed;
    std::set<std::string> ids = named_inputs(config);
    for (const ServerInput& input : config.inputs.value_or(std::vector<ServerInput>{})) {
        if (ids.erase(input.id) > 0) { // of two with one id, the first counts
            needed.push_back(input);
        }
    }
    return needed;
}

std::set<std::string> named_secrets(const protocol::McpServerConfig& config) {
    return names_of_kind(config, Variable::Kind::secret);
}

bool holds_password(std::string_view text, const protocol::McpServerConfig& config) {
    bool found = false;
    replace_variables(text, [&](const Variable& variable) {
        const ServerInput* input = variable.kind == Variable::Kind::input ? find_input(config, variable.name) : nullptr;
        found =
            found || variable.kind == Variable::Kind::secret || (input != nullptr && input->password.value_or(false));
        return std::string();
    });
    return found;
}

void give_inputs(protocol::McpServerConfig& config, const std::vector<ServerInput>& inputs) {
    const std::set<std::string> ids = named_inputs(config);
    for (const ServerInput& input : inputs) {
        if (ids.contains(input.id) && find_input(config, input.id) == nullptr) {
            if (!config.inputs) {
                config.inputs.emplace();
            }
            config.inputs->push_back(input);
        }
    }
}

void require_known_variables(const ServerSpec& spec) {
    each_variable_of(spec.config, [&spec](const Variable& variable) {
        if (variable.kind == Variable::Kind::other) {
            throw unknown_variable(variable, spec.name);
        }
        if (variable.kind == Variable::Kind::input) {
            require_askable(spec, variable.name);
        }
    });
    require_no_secret_in_sight(spec);
}

Error unknown_variable(const Variable& variable, const std::string& server) {
    return invalid_config(server,
                          fmt::format("{} is not supported", escape_unprintable(variable.source.substr(0, 200))),
                          "Use a variable of the environment: ${VAR} or ${env:VAR}.");
}

} // namespace cellgate::tools
