#pragma once
// `OAuthSettings` is what the configuration of a tool server at a URL says about its login, with the variables put in.

#include <cstdint>
#include <string>
#include <vector>

namespace cellgate::tools {

struct OAuthSettings {
    std::string client_id; // empty: cellgate registers itself
    std::string client_secret;
    bool client_credentials = false; // no user logs in
    std::vector<std::string> scopes; // empty: those that the server names
    std::uint16_t callback_port = 0; // 0: one that is chosen
    std::string login_options;       // with which `cellgate login` finds the server
};

struct ServerSpec;

// Throws Error{config_invalid} for a login that cannot be, and for variables in one that a workspace's file or an agent
// names: they would send a user's secrets to an authorization server that no user agreed to.
void require_usable_oauth(const ServerSpec& spec);

} // namespace cellgate::tools
