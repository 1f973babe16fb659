#pragma once
// `ServerSandbox` is the sandbox of tool servers: the same profile as a kernel's, with a proxy for each server. A
// request of the proxy belongs to that server and to no session; the hosts in its settings file are rules for this
// server alone, while it runs.

#include "async/loop.hpp"
#include "base/environment.hpp"
#include "egress/network.hpp"
#include "egress/proxy.hpp"
#include "gate/gate.hpp"
#include "store/directories.hpp"
#include "tools/server_sandbox.hpp"

#include <string>
#include <utility>

namespace cellgate::service {

class ServerSandbox final : public tools::ServerSandbox {
  public:
    // All must outlive it.
    ServerSandbox(async::Loop& loop, gate::Gate& gate, egress::Network& network, const store::Directories& directories,
                  const std::string& workspace, const Environment& environment,
                  decltype(egress::Inspection::secret_value) request_secret)
        : loop_(loop), gate_(gate), network_(network), directories_(directories), workspace_(workspace),
          environment_(environment), request_secret_(std::move(request_secret)) {}

    Task<std::shared_ptr<tools::SandboxedStart>> prepare(tools::SandboxedServer server) override;

  private:
    class Instance;

    async::Loop& loop_;
    gate::Gate& gate_;
    egress::Network& network_;
    const store::Directories& directories_;
    const std::string& workspace_; // the workspace, canonical
    const Environment& environment_;
    const decltype(egress::Inspection::secret_value) request_secret_;
};

} // namespace cellgate::service
