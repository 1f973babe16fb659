// validate, runtimes.

#include "base/enum_name.hpp"
#include "handlers.hpp"
#include "jupyter/kernel_choice.hpp"
#include "sandbox/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::service {

namespace {

struct Checks {
    SidecarServices& sidecar;

    Task<protocol::ValidateResult> validate(protocol::ValidateParams params) {
        return sidecar.checks.validate(std::move(params));
    }

    Task<protocol::RuntimesResult> runtimes(Empty) {
        protocol::RuntimesResult result;
        result.runtimes = co_await languages();
        result.profiles = co_await sidecar.checks.profiles_here();
        std::function<std::vector<protocol::LauncherInfo>()> look = [this] { return launchers(); };
        result.launchers = co_await sidecar.loop.run_blocking(std::move(look));
        co_return result;
    }

    // Each language with the first kernel of it.
    Task<std::vector<protocol::Runtime>> languages() {
        jupyter::KernelRequest request;
        request.workspace = sidecar.workspace.path;
        request.environment = sidecar.workspace.environment;
        const std::vector<jupyter::KernelInfo> kernels =
            co_await jupyter::list_kernels(sidecar.loop, std::move(request));
        std::vector<protocol::Runtime> runtimes;
        for (const jupyter::KernelInfo& kernel : kernels) {
            const auto known = std::find_if(runtimes.begin(), runtimes.end(),
                                            [&](const auto& each) { return each.language == kernel.language; });
            if (known == runtimes.end()) {
                runtimes.push_back({kernel.language, kernel.name, version_of(kernel), kernel.problem});
            } else if (known->problem && !kernel.problem) {
                *known = {kernel.language, kernel.name, version_of(kernel), kernel.problem};
            }
        }
        co_return runtimes;
    }

    std::optional<std::string> version_of(const jupyter::KernelInfo& kernel) const {
        for (const std::shared_ptr<session::Session>& session : sidecar.sessions.all()) {
            const protocol::SessionKernel known = session->info().kernel;
            if (known.language == kernel.language && known.version) {
                return known.version;
            }
        }
        return std::nullopt;
    }

    std::vector<protocol::LauncherInfo> launchers() const {
        std::vector<protocol::LauncherInfo> all;
        for (const std::string& name : sandbox::sandbox_names()) {
            protocol::LauncherInfo& launcher = all.emplace_back();
            launcher.name = parse_enum<protocol::SandboxLauncher>(name).value();
            try {
                sandbox::make_launcher(sandbox::find_isolation(name).value(), sidecar.workspace.environment)->check();
            } catch (const Error& error) {
                launcher.problem = error.hint.empty() ? error.message : error.message + "; " + error.hint;
            }
        }
        return all;
    }
};

} // namespace

void add_check_handlers(SidecarServices& sidecar, Client& client) {
    const auto handlers = std::make_shared<Checks>(sidecar);
    client.peer.on_request<protocol::Validate>(
        [handlers](protocol::ValidateParams params) { return handlers->validate(std::move(params)); });
    client.peer.on_request<protocol::Runtimes>([handlers](Empty params) { return handlers->runtimes(params); });
}

} // namespace cellgate::service
