// `cellgate kernels`: the kernels that a session can run.

#include "protocol/messages/kernels.hpp"

#include "base/escape_unprintable.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "kernel_listing.hpp"
#include "server_options.hpp"
#include "terminal_client.hpp"
#include "workspace_option.hpp"

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

// Of this machine if there is no server.
Task<void> ask_for_kernels(std::optional<protocol::KernelServer> server, bool json, TerminalClient& client) {
    protocol::KernelListParams params;
    params.server = std::move(server);
    const protocol::KernelListResult list = co_await client.sidecar().call<protocol::KernelList>(std::move(params));
    if (json) {
        fmt::print("{}\n", to_json(list));
        co_return;
    }
    for (const protocol::KernelListEntry& kernel : list.kernels) {
        fmt::print("{}\n    {} ({})\n", escape_unprintable(kernel.name), escape_unprintable(kernel.display_name),
                   escape_unprintable(kernel.language));
    }
}

int ask_sidecar(const std::string& workspace, const ServerOptions& options, bool json) {
    async::Loop loop;
    loop.run(with_terminal_client(&loop, options_of(workspace), [&](TerminalClient& client) {
        return ask_for_kernels(options.server({}), json, client);
    }));
    return 0;
}

} // namespace

void add_kernels(CLI::App& app, Invocation& invocation) {
    auto workspace = std::make_shared<std::string>(".");
    CLI::App* command = app.add_subcommand("kernels", "List the kernels that a session can run");
    add_root(*command, *workspace);
    auto json = std::make_shared<bool>(false);
    add_json(*command, *json);
    auto server = std::make_shared<ServerOptions>();
    server->add_to(*command, "List those of this Jupyter server");
    command->callback([workspace, server, json, &invocation] {
        invocation.run = [workspace, server, json] {
            return server->url.empty() && !*json ? print_kernels(*workspace) : ask_sidecar(*workspace, *server, *json);
        };
    });
}

} // namespace cellgate::cli
