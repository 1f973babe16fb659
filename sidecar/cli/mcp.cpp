// `cellgate mcp`: an MCP server over stdin and stdout, through which an agent uses the workspace's sidecar. It connects
// at the first tool call, since clients also start servers only to list their tools.

#include "async/stream.hpp"
#include "commands.hpp"
#include "log_level_option.hpp"
#include "mcp/server.hpp"
#include "mcp_client_config.hpp"
#include "mcp_tools.hpp"
#include "sandbox/launcher.hpp"
#include "service/sidecar.hpp"
#include "sidecar_client.hpp"
#include "workspace_sidecar.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <unistd.h>

namespace cellgate::cli {

namespace {

constexpr std::string_view instructions =
    "Runs code in a stateful, sandboxed kernel beside the user's editor. Write code that calls tools instead of "
    "calling them one by one: generate_wrappers makes a Python package of an MCP server's tools, search_tools and "
    "describe_tool say what there is, and execute runs the code. What leaves the sandbox may wait for a user's "
    "answer; a denial says why, and asking again the same way will not change it.";

// The variables that the user means for the kernel: KERNEL_ENV_NAME becomes NAME, as ipybox has it.
std::map<std::string, std::string> kernel_environment(const std::map<std::string, std::string>& environment) {
    constexpr std::string_view prefix = "KERNEL_ENV_";
    std::map<std::string, std::string> chosen;
    for (const auto& [name, value] : environment) {
        if (name.starts_with(prefix) && name.size() > prefix.size()) {
            chosen[name.substr(prefix.size())] = value;
        }
    }
    return chosen;
}

std::vector<mcp::Tool> all_tools(SidecarClient& sidecar, const McpLimits& limits) {
    std::vector<mcp::Tool> all = execution_tools(sidecar, limits);
    for (mcp::Tool& tool : catalogue_tools(sidecar)) {
        all.push_back(std::move(tool));
    }
    all.push_back(install_tool(sidecar));
    return all;
}

std::string own_program() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? "cellgate" : program.string();
}

Task<std::unique_ptr<ByteStream>> connect_agent(async::Loop* loop, WorkspaceSidecarOptions options) {
    co_return co_await connect_to_workspace(*loop, std::move(options));
}

Task<void> serve_agent(async::Loop* loop, WorkspaceSidecarOptions options) {
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO); // whatever prints by mistake must not end up between messages
    auto connection = std::make_shared<protocol::FramedConnection>(
        async::open_stream(*loop, ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), out), protocol::Framing::lines);
    const McpLimits limits = read_mcp_limits(sandbox::process_environment());
    SidecarClient sidecar(
        loop->clock(), [loop, options] { return connect_agent(loop, options); },
        kernel_environment(sandbox::process_environment()));
    mcp::ServerDescription description{{"cellgate", CELLGATE_VERSION}, std::string(instructions)};
    mcp::Server server(std::move(connection), std::move(description), all_tools(sidecar, limits), loop->clock());
    std::exception_ptr error;
    try {
        co_await server.run();
    } catch (const Error&) {
        error = std::current_exception();
    }
    co_await sidecar.close();
    if (error) {
        std::rethrow_exception(error);
    }
}

} // namespace

void add_mcp(CLI::App& app, Invocation& invocation) {
    auto options = std::make_shared<WorkspaceSidecarOptions>();
    auto client = std::make_shared<std::string>();
    options->workspace = ".";
    CLI::App* command = app.add_subcommand(
        "mcp", "Serve an agent over MCP, on stdin and stdout: it runs code, and a user answers for it");
    command->add_option("--root", options->workspace, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    command
        ->add_option("--trace", options->trace_file,
                     "If this starts the workspace's sidecar: it appends every message to FILE, as JSON lines")
        ->type_name("FILE");
    add_log_level(*command, options->log_level, "If this starts the sidecar: what it logs");
    command
        ->add_option("--print-config", *client,
                     "Print what to write into the configuration of an MCP client: vscode, claude, cursor or neovim")
        ->check(CLI::IsMember(std::vector<std::string>(std::begin(mcp_clients), std::end(mcp_clients))).description({}))
        ->type_name("CLIENT");
    command->callback([options, client, &invocation] {
        invocation.run = [options, client] {
            if (!client->empty()) {
                const std::string workspace = service::canonical_workspace(options->workspace);
                const McpClientConfig config = mcp_client_config(*client, own_program(), workspace);
                fmt::print("{}", config.json);
                fmt::print(stderr, "cellgate: this goes into {}\n", config.file);
                return 0;
            }
            async::Loop loop;
            loop.run(serve_agent(&loop, *options));
            return 0;
        };
    });
}

} // namespace cellgate::cli
