#pragma once
// `Installs` is the enforcement point for installs. It refuses names that pip could take for something else, asks the
// gate with pip's exact command, and runs exactly that in a build sandbox: with the machine's network, and without
// workspace, home or secrets. Wheels only, unless source builds are asked for: pip can start no process, so no
// package's code runs. What fails or is cancelled changes nothing. Owned by the service; outlives what it was asked to
// do.

#include "async/loop.hpp"
#include "base/environment.hpp"
#include "base/sync.hpp"
#include "gate/decision.hpp"
#include "packages/packages.hpp"
#include "packages/python.hpp"
#include "protocol/messages/packages.hpp"
#include "sandbox/build.hpp"
#include "store/directories.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::gate {
class Gate;
}

namespace cellgate::packages {

struct InstallRequest {
    Python python;
    std::vector<std::string> packages;
    bool source_builds = false; // whether who asks may say so was checked
    std::string session_id;
    std::optional<gate::Agent> agent;
    std::function<void(const std::string& line)> on_line; // of what pip says while it runs, safe to show
};

class Installs {
  public:
    // `environment`: of this process; what of it is about where packages come from, pip gets.
    Installs(async::Loop& loop, gate::Gate& gate, const store::Directories& directories, std::string root,
             Environment environment);

    // One interpreter is looked at and one pip runs at a time, the others wait. Throws Error{invalid_params, denied,
    // config_invalid (there is no pip), sandbox_unavailable, store_failed, limit_exceeded (too many wait)}. That pip
    // fails is a result. Cancelling takes back the question, ends the wait, or ends pip.
    Task<protocol::PackagesInstallResult> install(InstallRequest request);

  private:
    struct Ran;
    struct Running;

    sandbox::BuildProfile profile(const Python& python) const;
    Task<std::vector<std::string>> find_pip(Python python, bool source_builds);
    // The file that starts an interpreter's pip in another one; nothing when it has no pip.
    Task<std::optional<std::string>> find_runner(Python python);
    Task<std::optional<std::string>> ask_for_runner(Python python);
    // Throws Error{denied}.
    Task<gate::Decision> decide(const InstallRequest* request, std::vector<std::string> command);
    Task<protocol::PackagesInstallResult> install_allowed(InstallRequest request, std::vector<std::string> command);
    Task<protocol::PackagesInstallResult> build(InstallRequest request, std::vector<std::string> command,
                                                const Packages* packages, const Packages::Build* build);
    Task<Ran> run(async::Command command, sandbox::BuildProfile profile,
                  std::function<void(const std::string& line)> on_line);
    static Task<void> read_output(std::shared_ptr<Running> running);
    static Task<void> end_program(std::shared_ptr<Running> running, TaskScope* reading);

    async::Loop& loop_;
    gate::Gate& gate_;
    const store::Directories& directories_;
    std::string root_;
    Environment environment_;
    std::map<std::string, std::string> runners_; // that were found, by the interpreter
    Mutex inspecting_;
    Mutex building_;
};

} // namespace cellgate::packages
