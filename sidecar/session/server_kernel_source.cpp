// A kernel on a Jupyter server: the session starts it there, and is its only client.

#include "base/escape_unprintable.hpp"
#include "jupyter/language_names.hpp"
#include "jupyter/server_kernel.hpp"
#include "kernel_instance.hpp"
#include "kernel_source.hpp"
#include "plain_support.hpp"
#include "session/session_limits.hpp"

#include <fmt/format.h>

namespace cellgate::session {

namespace {

// A gateway may start a whole container first.
constexpr Duration server_start_limit = std::chrono::minutes(3);

void require_servers_environment(const SessionOptions& options) {
    const auto refuse = [](std::string_view what) {
        throw Error(
            ErrorCode::config_invalid,
            fmt::format("{} was asked for of a kernel on a Jupyter server, which cellgate cannot give it", what),
            "Leave it out: the server decides.");
    };
    for (const auto& [name, value] : options.environment) {
        if (!name.starts_with("KERNEL_")) { // those are a gateway's
            refuse(fmt::format("the environment variable {} (env)", escape_unprintable(name)));
        }
    }
    if (options.restore_cwd) {
        refuse("a working directory (restoreCwd)");
    }
    if (options.ask_before_programs) {
        refuse("a question before programs (the profile's askBeforePrograms)");
    }
}

} // namespace

Task<void> KernelInstance::start_on_server() {
    SessionServices& services = context.services;
    const SessionOptions& options = context.options;
    const protocol::KernelServer& server = *options.kernel.server;
    require_servers_environment(options);
    context.launcher.check_limits(limits_of_sandbox(options.limits));
    LatestKernel& latest = context.latest;
    const std::string host = jupyter::server_host(server.url);
    latest.kernel.name = server.name.value_or("default");
    latest.kernel.server = server.url;
    latest.layers = {"remote"};
    latest.notices = {fmt::format("the kernel runs on {}: cellgate does not isolate it, limits nothing in it, does not "
                                  "ask about its connections, and sees none of its files",
                                  host)};
    const Instant deadline = services.loop.clock().now() + server_start_limit;
    comm_tools = std::make_unique<CommTools>(services.loop, *context.listener, services.workspace);
    jupyter::TokenSource tokens = [&services, &options, &server](std::optional<std::string> refusal) {
        return services.server_token(options.id, server, std::move(refusal));
    };
    jupyter::ServerUse<std::unique_ptr<jupyter::Kernel>> start = [&](jupyter::ServerAddress address) {
        return jupyter::start_server_kernel(services.loop, std::move(address), server.name.value_or(""),
                                            options.environment, *comm_tools, deadline);
    };
    kernel =
        co_await jupyter::use_server<std::unique_ptr<jupyter::Kernel>>(server.url, std::move(tokens), std::move(start));
    latest.kernel.language = kernel->info().language;
    if (options.language && !jupyter::runs_language(latest.kernel.language, *options.language)) {
        throw Error(ErrorCode::kernel_not_found,
                    fmt::format("expected a kernel for {}, found {} for {} on {}", *options.language,
                                latest.kernel.name, latest.kernel.language, host),
                    fmt::format("`cellgate kernels --jupyter-server {}` lists those of the server.", server.url));
    }
    jupyter::KernelChoice unstarted;
    unstarted.language = latest.kernel.language;
    language = std::make_unique<PlainSupport>(std::move(unstarted));
    co_await open_comm_channel();
}

} // namespace cellgate::session
