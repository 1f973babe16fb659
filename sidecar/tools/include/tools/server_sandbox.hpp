#pragma once
// `ServerSandbox` is the sandbox of tool servers as the registry needs it: a kernel's, by the same profile, with a
// proxy of its own. The seam to egress, which the tools do not know: made by the composition root.

#include "async/process.hpp"
#include "base/host.hpp"
#include "gate/agent.hpp"
#include "sandbox/isolation.hpp"
#include "sandbox/launch.hpp"
#include "sandbox/settings.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

struct SandboxedServer {
    std::string name;
    std::string identity;
    std::optional<gate::Agent> agent; // that named it
    async::Command command;           // its environment: what it gets beside a clean one
    sandbox::Isolation isolation = sandbox::default_isolation;
    std::vector<std::string> folders;                  // in which its programs lie
    std::shared_ptr<const sandbox::Settings> settings; // nothing: the default profile
    bool shows_workspace = true;
    std::vector<Endpoint> hosts; // to which it may connect, beside those of its settings
};

// One start of a server. end() must be awaited before it goes, whether it was started or not.
class SandboxedStart {
  public:
    virtual ~SandboxedStart() = default;

    // What really starts. Its command is taken once.
    sandbox::Launch launch;

    // As Launcher::exit_of().
    virtual async::ExitStatus exit_of(async::ExitStatus outer) const = 0;
    // Those of `paths` (absolute) that are not seen in there. Off the loop; before end().
    virtual Task<std::vector<std::string>> unseen(std::vector<std::string> paths) = 0;
    // Lets it connect to these while the result is kept, but for addresses that only a rule of a user's allows.
    virtual std::shared_ptr<void> allow(const std::vector<Endpoint>& endpoints) = 0;
    // Once its process has ended: its way to the network and its directory go.
    virtual Task<void> end() = 0;
};

class ServerSandbox {
  public:
    // Throws what Launcher::wrap() does: there is no fallback.
    virtual Task<std::shared_ptr<SandboxedStart>> prepare(SandboxedServer server) = 0;

  protected:
    ~ServerSandbox() = default;
};

} // namespace cellgate::tools
