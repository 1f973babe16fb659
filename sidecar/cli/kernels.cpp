// `cellgate kernels`: the kernels that a session can run.

#include "commands.hpp"
#include "kernel_listing.hpp"

#include <fmt/format.h>

#include <memory>

namespace cellgate::cli {

namespace {

int print_kernels(const std::string& workspace) {
    const std::vector<jupyter::KernelInfo> kernels = installed_kernels(workspace);
    for (const jupyter::KernelInfo& kernel : kernels) {
        fmt::print("{}", kernel_entry(kernel));
    }
    if (kernels.empty()) {
        fmt::print("No kernels were found. On Debian and Ubuntu: sudo apt install python3-ipykernel\n");
    }
    return 0;
}

} // namespace

void add_kernels(CLI::App& app, Invocation& invocation) {
    auto workspace = std::make_shared<std::string>(".");
    CLI::App* command = app.add_subcommand("kernels", "List the kernels that a session can run");
    command->add_option("--root", *workspace, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    command->callback([workspace, &invocation] { invocation.run = [workspace] { return print_kernels(*workspace); }; });
}

} // namespace cellgate::cli
