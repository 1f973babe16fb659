#pragma once
// The sandbox of tool servers: a kernel's, by the same profile, with a proxy of each server's own. What the proxy is
// asked for is asked by that server, of no session; what its settings file says about hosts are rules for it alone, for
// as long as it runs.

#include "async/loop.hpp"
#include "egress/network.hpp"
#include "gate/gate.hpp"
#include "store/directories.hpp"
#include "tools/server_sandbox.hpp"

#include <string>

namespace cellgate::service {

class ServerSandbox final : public tools::ServerSandbox {
  public:
    // All stay as long as it.
    ServerSandbox(async::Loop& loop, gate::Gate& gate, egress::Network& network, const store::Directories& directories,
                  const std::string& root, const sandbox::Environment& environment)
        : loop_(loop), gate_(gate), network_(network), directories_(directories), root_(root),
          environment_(environment) {}

    Task<std::shared_ptr<tools::SandboxedStart>> prepare(tools::SandboxedServer server) override;

  private:
    class Start;

    async::Loop& loop_;
    gate::Gate& gate_;
    egress::Network& network_;
    const store::Directories& directories_;
    const std::string& root_; // the workspace, canonical
    const sandbox::Environment& environment_;
};

} // namespace cellgate::service
