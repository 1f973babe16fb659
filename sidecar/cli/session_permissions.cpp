#include "session_permissions.hpp"

#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "policy_text.hpp"

#include <fmt/format.h>

#include <utility>

namespace cellgate::cli {

namespace {

// Rules of other sessions hold for their code, and those about a tool server's connections for that server.
bool holds_for(const protocol::Rule& rule, const std::string& session_id) {
    return (!rule.session_id || *rule.session_id == session_id) &&
           !(rule.kind == protocol::ActionKind::network && rule.server);
}

} // namespace

Task<SessionPermissions> permissions_of(WorkspaceClient* client, std::string session_id) {
    SessionPermissions all;
    protocol::PolicyListResult rules = co_await client->call<protocol::PolicyList>();
    all.rules = std::move(rules.rules);
    std::erase_if(all.rules, [&](const protocol::Rule& rule) { return !holds_for(rule, session_id); });
    protocol::ToolServersListResult servers = co_await client->call<protocol::ToolServersList>();
    all.servers = std::move(servers.servers);
    protocol::SecretListResult secrets = co_await client->call<protocol::SecretList>();
    all.secrets = std::move(secrets.secrets);
    std::erase_if(all.secrets, [&](const protocol::SecretInfo& secret) {
        return secret.session_id && *secret.session_id != session_id;
    });
    co_return std::move(all);
}

std::string permissions_text(const SessionPermissions& permissions) {
    std::string text = "rules (cellgate policy):\n";
    for (const protocol::Rule& rule : permissions.rules) {
        text += "  " + rule_line(rule) + "\n";
    }
    text += "  ask  all else\ntool servers (cellgate servers):\n";
    for (const protocol::ToolServerInfo& server : permissions.servers) {
        const std::string place = server.sandbox ? fmt::format(", sandbox {}", enum_name(*server.sandbox)) : "";
        text += fmt::format("  {} ({}{})\n", escape_unprintable(server.name), enum_name(server.state), place);
    }
    text += "secrets, which code never sees (cellgate secret):\n";
    for (const protocol::SecretInfo& secret : permissions.secrets) {
        text += fmt::format("  {}, from {}\n", escape_unprintable(secret.name), enum_name(secret.source));
    }
    return text + (permissions.secrets.empty() ? "  none\n" : "");
}

std::string permissions_json(const SessionPermissions& permissions) {
    return fmt::format(R"({{"rules":{},"servers":{},"secrets":{}}})", to_json(permissions.rules),
                       to_json(permissions.servers), to_json(permissions.secrets));
}

} // namespace cellgate::cli
