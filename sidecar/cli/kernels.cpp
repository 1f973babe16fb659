// `cellgate kernels`: the kernels that a session can run.

#include "protocol/messages/kernels.hpp"

#include "base/escape_unprintable.hpp"
#include "commands.hpp"
#include "kernel_listing.hpp"
#include "server_options.hpp"
#include "terminal_client.hpp"

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

Task<void> print_kernels_of_server(protocol::KernelServer server, TerminalClient& client) {
    protocol::KernelListParams params;
    params.server = std::move(server);
    const protocol::KernelListResult list = co_await client.sidecar().call<protocol::KernelList>(std::move(params));
    for (const protocol::KernelListEntry& kernel : list.kernels) {
        fmt::print("{}\n    {} ({})\n", escape_unprintable(kernel.name), escape_unprintable(kernel.display_name),
                   escape_unprintable(kernel.language));
    }
}

int ask_server(const std::string& workspace, const ServerOptions& options) {
    async::Loop loop;
    loop.run(with_terminal_client(&loop, options_of(workspace), [&](TerminalClient& client) {
        return print_kernels_of_server(*options.server({}), client);
    }));
    return 0;
}

} // namespace

void add_kernels(CLI::App& app, Invocation& invocation) {
    auto workspace = std::make_shared<std::string>(".");
    CLI::App* command = app.add_subcommand("kernels", "List the kernels that a session can run");
    command->add_option("--root", *workspace, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    auto server = std::make_shared<ServerOptions>();
    server->add_to(*command, "List those of this Jupyter server");
    command->callback([workspace, server, &invocation] {
        invocation.run = [workspace, server] {
            return server->url.empty() ? print_kernels(*workspace) : ask_server(*workspace, *server);
        };
    });
}

} // namespace cellgate::cli
