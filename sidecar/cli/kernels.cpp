// `cellgate kernels`: the kernels that a session can run.

#include "base/escape_unprintable.hpp"
#include "commands.hpp"
#include "jupyter/kernel_choice.hpp"
#include "sandbox/launcher.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace cellgate::cli {

namespace {

Task<void> print_kernels(async::Loop* loop, jupyter::KernelRequest request) {
    const std::vector<jupyter::KernelInfo> kernels = co_await jupyter::list_kernels(*loop, std::move(request));
    for (const jupyter::KernelInfo& kernel : kernels) {
        fmt::print("{}\n    {} ({}){}\n", escape_unprintable(kernel.name), escape_unprintable(kernel.display_name),
                   escape_unprintable(kernel.language),
                   kernel.from_workspace ? ", of this workspace: asks before it starts" : "");
        if (kernel.problem) {
            fmt::print("    cannot be started: {}\n", escape_unprintable(*kernel.problem));
        }
    }
    if (kernels.empty()) {
        fmt::print("No kernels were found. On Debian and Ubuntu: sudo apt install python3-ipykernel\n");
    }
}

} // namespace

void add_kernels(CLI::App& app, Invocation& invocation) {
    auto workspace = std::make_shared<std::string>(".");
    CLI::App* command = app.add_subcommand("kernels", "List the kernels that a session can run");
    command->add_option("--root", *workspace, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    command->callback([workspace, &invocation] {
        invocation.run = [workspace] {
            jupyter::KernelRequest request;
            request.workspace = std::filesystem::canonical(*workspace);
            request.environment = sandbox::process_environment();
            async::Loop loop;
            loop.run(print_kernels(&loop, std::move(request)));
            return 0;
        };
    });
}

} // namespace cellgate::cli
