// `cellgate kernels`: what a session can run.

#include "base/visible_text.hpp"
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
        fmt::print("{}\n    {} ({}){}\n", visible_text(kernel.name), visible_text(kernel.display_name),
                   visible_text(kernel.language),
                   kernel.from_workspace ? ", of this workspace: asks before it starts" : "");
        if (kernel.problem) {
            fmt::print("    cannot be started: {}\n", visible_text(*kernel.problem));
        }
    }
    if (kernels.empty()) {
        fmt::print("No kernels were found. On Debian and Ubuntu: sudo apt install python3-ipykernel\n");
    }
}

} // namespace

void add_kernels(CLI::App& app, Invocation& invocation) {
    auto root = std::make_shared<std::string>(".");
    CLI::App* command = app.add_subcommand("kernels", "List the kernels that a session can run");
    command->add_option("--root", *root, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    command->callback([root, &invocation] {
        invocation.run = [root] {
            jupyter::KernelRequest request;
            request.workspace = std::filesystem::canonical(*root);
            request.environment = sandbox::process_environment();
            async::Loop loop;
            loop.run(print_kernels(&loop, std::move(request)));
            return 0;
        };
    });
}

} // namespace cellgate::cli
