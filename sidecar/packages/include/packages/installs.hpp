#pragma once
// `Installs` is the enforcement point for installs. It refuses names that a package manager could take for something
// else, asks the gate with the manager's exact command, and runs exactly that in a build sandbox: with the machine's
// network, and without workspace, home or secrets. No package's code runs, unless source builds are asked for. What
// fails or is cancelled changes nothing. Owned by the service; outlives what it was asked to do.

#include "async/loop.hpp"
#include "base/environment.hpp"
#include "base/sync.hpp"
#include "gate/decision.hpp"
#include "packages/build_runner.hpp"
#include "packages/installer.hpp"
#include "packages/pip.hpp"
#include "packages/python.hpp"
#include "packages/requirements.hpp"
#include "protocol/messages/packages.hpp"
#include "store/directories.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::gate {
class Gate;
}

namespace cellgate::packages {

struct InstallRequest {
    std::vector<std::string> packages; // of one kind (packages/requirements.hpp)
    std::optional<Python> python;      // for Python packages
    bool source_builds = false;        // whether who asks may say so was checked
    std::optional<std::string> session_id;
    std::optional<gate::Agent> agent;
    TakeLine on_line; // of what the package manager says while it runs, safe to show
};

class Installs {
  public:
    // `environment`: of this process; what of it is about where packages come from, package managers get.
    Installs(async::Loop& loop, gate::Gate& gate, const store::Directories& directories, std::string root,
             Environment environment);

    // One interpreter is looked at and one package manager runs at a time, the others wait. Throws
    // Error{invalid_params, denied, config_invalid (there is no pip or Deno), sandbox_unavailable, store_failed,
    // limit_exceeded (too many wait)}. That the package manager fails is a result. Cancelling takes back the question,
    // ends the wait, or ends the package manager.
    Task<protocol::PackagesInstallResult> install(InstallRequest request);

  private:
    struct Allowed;

    sandbox::BuildProfile profile() const;
    Task<std::unique_ptr<Installer>> find_installer(const InstallRequest* request, PackageKind kind);
    // Throws Error{denied}.
    Task<gate::Decision> decide(const InstallRequest* request, const Installer* installer,
                                std::vector<std::string> command);
    Task<protocol::PackagesInstallResult> install_allowed(Allowed* allowed);
    Task<protocol::PackagesInstallResult> build(Allowed* allowed, const PackageFolder* folder,
                                                const PackageFolder::Build* build);

    async::Loop& loop_;
    gate::Gate& gate_;
    const store::Directories& directories_;
    std::string root_;
    BuildRunner runner_;
    PipFinder pip_finder_;
    Mutex building_;
};

} // namespace cellgate::packages
