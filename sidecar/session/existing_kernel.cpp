// A kernel that already runs: the session is one more client of it.

#include "jupyter/connected_kernel.hpp"
#include "jupyter/connection_file.hpp"
#include "jupyter/language_names.hpp"
#include "kernel_instance.hpp"
#include "plain_support.hpp"
#include "python_support.hpp"
#include "session/session_limits.hpp"

#include <fmt/format.h>

#include <functional>

namespace cellgate::session {

namespace {

constexpr Duration connect_limit = std::chrono::seconds(60);

// A running program has its variables, its folder and its rights.
void require_no_start(const SessionOptions& options) {
    const auto refuse = [](std::string_view what) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("{} was asked for of a kernel that already runs, which cellgate cannot give it", what),
                    "Leave it out, or have cellgate start the kernel.");
    };
    if (!options.environment.empty()) {
        refuse("an environment (env)");
    }
    if (options.restore_cwd) {
        refuse("a working directory (restoreCwd)");
    }
    if (options.ask_before_programs) {
        refuse("a question before programs (the profile's askBeforePrograms)");
    }
}

std::unique_ptr<LanguageSupport> support_of(const std::string& language) {
    jupyter::KernelChoice choice;
    choice.language = language;
    if (language == "python") {
        return std::make_unique<PythonSupport>(std::move(choice));
    }
    return std::make_unique<PlainSupport>(std::move(choice));
}

} // namespace

Task<void> KernelInstance::connect() {
    SessionServices& services = context.services;
    const SessionOptions& options = context.options;
    LatestKernel& latest = context.latest;
    require_no_start(options);
    context.launcher.check_limits(limits_of_sandbox(options.limits));
    std::function<jupyter::ExistingKernel()> read = [&services, &options] {
        return jupyter::read_connection_file(
            jupyter::find_connection_file(*options.kernel.connection_file, services.environment));
    };
    jupyter::ExistingKernel existing = co_await services.loop.run_blocking(std::move(read));
    latest.kernel.name = existing.name;
    latest.kernel.connection_file = existing.connection.file;
    latest.layers = {"existing"};
    latest.notices = {"the kernel already ran: cellgate does not isolate it, limits nothing in it, and does not ask "
                      "about its connections"};
    const Instant deadline = services.loop.clock().now() + connect_limit;
    comm_tools = std::make_unique<CommTools>(services.loop, *context.listener, services.workspace);
    kernel = co_await jupyter::connect_kernel(services.loop, std::move(existing.connection), *comm_tools, deadline);
    latest.kernel.language = kernel->info().language;
    if (options.language && !jupyter::runs_language(latest.kernel.language, *options.language)) {
        throw Error(ErrorCode::kernel_not_found, fmt::format("expected a kernel for {}, found {} for {}",
                                                             *options.language, existing.name, latest.kernel.language));
    }
    language = support_of(latest.kernel.language);
    co_await open_comm_channel();
}

Task<void> KernelInstance::open_comm_channel() {
    std::string problem = fmt::format("on a Jupyter server, or in a kernel that already ran, Python can and {} cannot",
                                      jupyter::shown_line(kernel->info().language));
    if (kernel->info().language == "python") {
        problem.clear();
        channel = std::make_unique<tools::Channel>(context.services.loop, comm_tools->connections(),
                                                   context.services.tools, *context.caller);
        serving.spawn(channel->run());
        try {
            co_await comm_tools->attach(*kernel);
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            problem = error.message;
        }
    }
    if (!problem.empty()) {
        context.latest.notices.push_back("its code cannot call tools: " + problem);
    }
}

} // namespace cellgate::session
