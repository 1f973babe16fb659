#include "plain_support.hpp"

namespace cellgate::session {

namespace {

Error no_copies() {
    return Error(ErrorCode::unsupported, "variables cannot be copied from or to this kernel",
                 "they can with kernels of Python (ipykernel), TypeScript (Deno), bash and R");
}

} // namespace

KernelLaunch PlainSupport::launch(const LaunchPlace& place, Environment environment) const {
    KernelLaunch launch;
    launch.argv = jupyter::launch_argv(choice_, place.connection_file);
    launch.environment = std::move(environment);
    add_wrapper_path(launch.environment, place); // for Python programs that its code starts
    return launch;
}

Task<std::optional<std::string>> PlainSupport::inspect(const KernelAccess& kernel, std::string code,
                                                       std::int64_t cursor, std::int64_t detail_level) const {
    jupyter::KernelQuery query = jupyter::inspection_query(code, cursor, detail_level);
    const std::string reply = co_await kernel.ask(std::move(query));
    co_return jupyter::read_inspection(reply);
}

Task<ExportAnswer> PlainSupport::export_variable(const KernelAccess& /*kernel*/, std::string /*name*/) const {
    throw no_copies();
    co_return ExportAnswer{}; // makes it a coroutine
}

Task<ImportAnswer> PlainSupport::import_variable(const KernelAccess& /*kernel*/, std::string /*name*/,
                                                 RawJson /*value*/) const {
    throw no_copies();
    co_return ImportAnswer{};
}

} // namespace cellgate::session
