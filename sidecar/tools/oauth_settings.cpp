#include "oauth_settings.hpp"

#include "server_errors.hpp"
#include "tools/config.hpp"
#include "variables.hpp"

#include <optional>

namespace cellgate::tools {

namespace {

bool names_a_variable(const std::string& text) {
    bool found = false;
    replace_variables(text, [&found](const Variable&) {
        found = true;
        return std::string();
    });
    return found;
}

} // namespace

void require_usable_oauth(const ServerSpec& spec) {
    const std::optional<protocol::OAuthConfig>& oauth = spec.config.oauth;
    if (!oauth) {
        return;
    }
    if (!spec.config.url) {
        throw invalid_config(spec.name, "expected \"oauth\" beside a url only: a program has its own ways to log in");
    }
    if (oauth->client_secret && !oauth->client_id) {
        throw invalid_config(spec.name, "expected a clientId beside the clientSecret");
    }
    if (oauth->grant_type == protocol::OAuthGrantType::client_credentials && !oauth->client_secret) {
        throw invalid_config(spec.name, "expected a clientId and a clientSecret for client_credentials");
    }
    bool has_variable =
        names_a_variable(oauth->client_id.value_or("")) || names_a_variable(oauth->client_secret.value_or(""));
    for (const std::string& scope : oauth->scopes.value_or(std::vector<std::string>{})) {
        has_variable = has_variable || names_a_variable(scope);
    }
    if (has_variable && requires_approval(spec.source)) {
        throw invalid_config(spec.name, "expected an \"oauth\" without variables in a file of the workspace",
                             "What they stand for would be sent to whom the server names. Put such a server into your "
                             "own configuration: the editor's, or --mcp-config.");
    }
}

} // namespace cellgate::tools
