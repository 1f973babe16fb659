// packages/install.

#include "handlers.hpp"
#include "packages/requirements.hpp"
#include "progress.hpp"
#include "protocol/messages/packages.hpp"

#include <fmt/format.h>

namespace cellgate::service {

namespace {

struct PackageMethods {
    SidecarServices& sidecar;
    Client& client;

    Task<protocol::PackagesInstallResult> install(protocol::PackagesInstallParams params) {
        packages::InstallRequest request;
        request.packages = std::move(params.packages);
        request.source_builds = params.allow_source_builds.value_or(false);
        // Before a kernel starts for it.
        const packages::PackageKind kind = packages::require_packages(request.packages, request.source_builds);
        Progress progress(client.peer, std::move(params.work_done_token), "Installing packages");
        if (kind == packages::PackageKind::python) {
            co_await add_python(&request, std::move(params.session_id));
        } else if (params.session_id) {
            request.session_id = sidecar.sessions.find(*params.session_id)->id();
        }
        request.agent = client.agent;
        request.on_line = [&progress](const std::string& line) { progress.report(line); };
        co_return co_await sidecar.installs.install(std::move(request));
    }

    Task<void> add_python(packages::InstallRequest* request, std::optional<std::string> session_id) {
        const std::shared_ptr<session::Session> session =
            co_await sidecar.sessions.find_or_start(std::move(session_id), limits_of_agent(sidecar, client));
        const protocol::SessionKernel kernel = session->info().kernel;
        if (kernel.server || kernel.connection_file) {
            throw Error(ErrorCode::unsupported,
                        fmt::format("the kernel of the session \"{}\" was not started by cellgate in its sandbox, so "
                                    "packages cannot be installed for it",
                                    session->id()),
                        "Install them where the kernel runs.");
        }
        if (session->options().image) {
            const std::string& name = session->options().image->name;
            throw Error(ErrorCode::unsupported,
                        fmt::format("the kernel of the session \"{}\" is in the image {}, so packages cannot be "
                                    "installed for it",
                                    session->id(), name),
                        fmt::format("Add them in the image's Containerfile (RUN pip install …), and build that again: "
                                    "cellgate image build DIR --tag {}",
                                    name));
        }
        if (!session->python()) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("expected a session with a Python kernel, found {} in session \"{}\"",
                                    session->info().kernel.language, session->id()),
                        "packages of npm are named with npm: before their name");
        }
        request->python = *session->python();
        request->session_id = session->id();
    }
};

} // namespace

void add_package_handlers(SidecarServices& sidecar, Client& client) {
    const auto handlers = std::make_shared<PackageMethods>(sidecar, client);
    client.peer.on_request<protocol::PackagesInstall>(
        [handlers](protocol::PackagesInstallParams params) { return handlers->install(std::move(params)); });
}

} // namespace cellgate::service
