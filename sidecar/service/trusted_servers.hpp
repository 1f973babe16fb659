#pragma once
// `TrustedServers` is the tool servers that a user named: each has a rule that its start needs no approval.

#include "gate/gate.hpp"
#include "tools/registry.hpp"

#include <map>
#include <string>

namespace cellgate::service {

class TrustedServers {
  public:
    // Both must outlive it.
    TrustedServers(tools::Registry& registry, gate::Gate& gate) : registry_(registry), gate_(gate) {}

    // Throws Error{config_invalid}; then none was added. A server of the same name is replaced.
    void add(const std::map<std::string, protocol::McpServerConfig>& servers, protocol::ToolServerSource source);
    // Withdraws the rule of a server; nothing if it has none.
    void distrust(const std::string& server);

  private:
    tools::Registry& registry_;
    gate::Gate& gate_;
    std::map<std::string, std::string> start_rules_; // by server
};

} // namespace cellgate::service
