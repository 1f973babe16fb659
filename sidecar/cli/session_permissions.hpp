#pragma once
// `SessionPermissions` is what decides about the code of a session, beside its sandbox: rules, tool servers, secrets.

#include "protocol/messages/policy.hpp"
#include "protocol/messages/secrets.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "workspace_client.hpp"

#include <string>
#include <vector>

namespace cellgate::cli {

struct SessionPermissions {
    std::vector<protocol::Rule> rules;
    std::vector<protocol::ToolServerInfo> servers;
    std::vector<protocol::SecretInfo> secrets; // never their values
};

Task<SessionPermissions> permissions_of(WorkspaceClient* client, std::string session_id);

// A paragraph for each, with the command that changes it.
std::string permissions_text(const SessionPermissions& permissions);
// {"rules":[…],"servers":[…],"secrets":[…]}
std::string permissions_json(const SessionPermissions& permissions);

} // namespace cellgate::cli
