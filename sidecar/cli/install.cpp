// `cellgate install PACKAGE…`: packages for the workspace's kernels, after approval by the user at the terminal.

#include "commands.hpp"
#include "json_output.hpp"
#include "protocol/messages/packages.hpp"
#include "terminal_client.hpp"
#include "workspace_option.hpp"

namespace cellgate::cli {

namespace {

struct InstallArguments {
    std::string workspace = ".";
    std::string trace;
    std::vector<std::string> packages;
    bool source_builds = false;
    bool json = false;
    int exit_code = 0;

    service::SidecarOptions options() const {
        service::SidecarOptions options = options_of(workspace);
        if (!trace.empty()) {
            options.trace_file = trace;
        }
        return options;
    }
};

Task<void> install(InstallArguments* arguments, TerminalClient& client) {
    protocol::PackagesInstallParams params;
    params.packages = arguments->packages;
    params.allow_source_builds = arguments->source_builds;
    const protocol::PackagesInstallResult result =
        co_await client.sidecar().call<protocol::PackagesInstall>(std::move(params));
    arguments->exit_code = result.status == protocol::InstallStatus::failed ? 1 : 0;
    if (arguments->json) {
        fmt::print("{}\n", to_json(result));
        co_return;
    }
    if (result.status == protocol::InstallStatus::failed) {
        client.printer().note(result.output);
        client.printer().note("cellgate: nothing was installed: " +
                              result.reason.value_or("the package manager failed"));
        co_return;
    }
    for (const protocol::InstalledPackage& package : result.installed) {
        fmt::print("{} {}\n", package.name, package.version);
    }
}

} // namespace

void add_install(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<InstallArguments>();
    CLI::App* command = app.add_subcommand(
        "install", "Install packages of Python or npm for the workspace's kernels, and print what was installed");
    command
        ->add_option("PACKAGE", arguments->packages,
                     "As pip names it: requests, 'requests[socks]', 'requests>=2,<3'; or of npm, for Deno's kernels: "
                     "npm:lodash, npm:lodash@^4. All of one kind")
        ->type_name("")
        ->required();
    add_root(*command, arguments->workspace);
    add_json(*command, arguments->json);
    command->add_flag(
        "--allow-source-builds", arguments->source_builds,
        "Also build what has no wheel, and run the install scripts of npm's packages: the packages' own code "
        "runs in the build sandbox then");
    command->add_option("--trace", arguments->trace, "Append every message to FILE, as JSON lines")->type_name("FILE");
    run_on_loop(*command, invocation, arguments, [](async::Loop* loop, InstallArguments* parsed) {
        return with_terminal_client(loop, parsed->options(),
                                    [parsed](TerminalClient& client) { return install(parsed, client); });
    });
}

} // namespace cellgate::cli
