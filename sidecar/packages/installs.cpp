#include "packages/installs.hpp"

#include "async/process.hpp"
#include "gate/gate.hpp"
#include "jupyter/deno.hpp"
#include "packages/npm.hpp"
#include "packages/requirements.hpp"
#include "short_queue.hpp"

#include <fmt/format.h>

namespace cellgate::packages {

namespace {

std::string denial(const gate::Decision& decision) {
    const bool user = decision.by == protocol::ResolvedBy::user;
    return (user ? "nothing was installed, a user said no: " : "nothing was installed: ") + decision.reason;
}

} // namespace

// An install that the gate has allowed.
struct Installs::Allowed {
    std::unique_ptr<Installer> installer;
    std::vector<std::string> command;
    TakeLine on_line;
};

Installs::Installs(async::Loop& loop, gate::Gate& gate, const store::Directories& directories, std::string root,
                   Environment environment)
    : loop_(loop), gate_(gate), directories_(directories), root_(std::move(root)),
      runner_(loop, std::move(environment)), pip_finder_(runner_, profile()) {}

// Of a build that sees nothing yet.
sandbox::BuildProfile Installs::profile() const {
    sandbox::BuildProfile profile;
    profile.workspace = root_;
    profile.hidden = directories_.all();
    return profile;
}

Task<std::unique_ptr<Installer>> Installs::find_installer(const InstallRequest* request, PackageKind kind) {
    if (kind == PackageKind::python) {
        co_return std::make_unique<Pip>(pip_finder_, directories_, root_, runner_.environment(),
                                        request->python.value(), request->packages, request->source_builds);
    }
    std::function<std::optional<jupyter::Deno>()> find = [this] {
        return jupyter::find_deno(root_, runner_.environment());
    };
    std::optional<jupyter::Deno> deno = co_await loop_.run_blocking(std::move(find));
    if (!deno) {
        throw Error(ErrorCode::config_invalid,
                    "expected Deno in the workspace's node_modules or on PATH, which installs packages of npm; found "
                    "none",
                    "Install Deno in the workspace: npm install deno");
    }
    co_return std::make_unique<Npm>(directories_, root_, runner_.environment(), std::move(*deno), request->packages,
                                    request->source_builds);
}

Task<gate::Decision> Installs::decide(const InstallRequest* request, const Installer* installer,
                                      std::vector<std::string> command) {
    gate::Install install;
    install.command = std::move(command);
    std::vector<std::string> names;
    for (const auto& [name, value] : installer->index_settings()) {
        names.push_back(name);
    }
    if (!names.empty()) {
        install.environment_names = std::move(names);
    }
    gate::Request question;
    question.action = std::move(install);
    question.session_id = request->session_id;
    question.agent = request->agent;
    gate::Decision decision = co_await gate_.decide(std::move(question));
    if (!decision.allowed) {
        const bool was_asked = decision.by != protocol::ResolvedBy::no_client;
        throw Error(ErrorCode::denied, denial(decision),
                    was_asked ? "go on without the package: asking again will not change it" : "");
    }
    co_return decision;
}

Task<protocol::PackagesInstallResult> Installs::build(Allowed* allowed, const PackageFolder* folder,
                                                      const PackageFolder::Build* build) {
    const Installer& installer = *allowed->installer;
    sandbox::BuildProfile where = profile();
    where.directory = build->directory;
    where.network = sandbox::Network::host;
    where.read_only = installer.read_only();
    async::Command program;
    program.argv = std::move(allowed->command);
    program.environment = installer.environment();
    program.stderr_to_stdout = installer.prints_on_stderr();
    BuildOutcome ran = co_await runner_.run(std::move(program), std::move(where), std::move(allowed->on_line));
    protocol::PackagesInstallResult result;
    result.output = std::move(ran.output);
    result.layers = std::move(ran.layers);
    if (!ran.status.success()) {
        result.status = protocol::InstallStatus::failed;
        result.reason = fmt::format("{} ended with {}: {}", installer.name(), ran.status.describe(),
                                    installer.last_words(installer.prints_on_stderr() ? ran.printed : ran.errors));
        co_return result;
    }
    std::function<std::vector<protocol::InstalledPackage>()> publish = [folder, build] {
        return folder->publish(*build);
    };
    result.installed = co_await loop_.run_blocking(std::move(publish));
    co_return result;
}

Task<protocol::PackagesInstallResult> Installs::install(InstallRequest request) {
    const PackageKind kind = require_packages(request.packages, request.source_builds);
    Allowed allowed;
    allowed.installer = co_await find_installer(&request, kind);
    std::vector<std::string> command = co_await allowed.installer->find_command();
    gate::Decision decision = co_await decide(&request, allowed.installer.get(), std::move(command));
    gate::OutcomeReport outcome = gate_.outcome_report(decision);
    // What was matched, hashed and shown; nothing else runs.
    allowed.command = std::move(std::get<gate::Install>(decision.action).command);
    allowed.on_line = std::move(request.on_line);
    protocol::PackagesInstallResult result = co_await gate::reporting_failure(outcome, install_allowed(&allowed));
    if (result.status == protocol::InstallStatus::failed) {
        outcome.failed(result.reason.value_or(""));
    } else {
        outcome.succeeded();
    }
    co_return result;
}

Task<protocol::PackagesInstallResult> Installs::install_allowed(Allowed* allowed) {
    require_short_queue(building_, "an install");
    const Mutex::Lock lock = co_await building_.lock();
    std::unique_ptr<PackageFolder> folder;
    std::function<PackageFolder::Build()> begin = [allowed, &folder] {
        folder = allowed->installer->open_folder();
        PackageFolder::Build begun = folder->begin();
        allowed->installer->prepare(begun.directory);
        return begun;
    };
    const PackageFolder::Build made = co_await loop_.run_blocking(std::move(begin));
    std::function<void()> discard = [&made] { PackageFolder::discard(made); };
    co_return co_await finally(build(allowed, folder.get(), &made), loop_.run_blocking(std::move(discard)));
}

} // namespace cellgate::packages
