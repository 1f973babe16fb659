// install_package, with ipybox's name and parameter. ipybox installs into its own interpreter, unasked; here it is an
// action that a user is asked about.

#include "mcp/content.hpp"
#include "output_reader.hpp"
#include "tools.hpp"

#include <fmt/format.h>

namespace cellgate::agent {

namespace {

using mcp::ToolCall;

struct InstallArguments {
    static constexpr bool closed = true;
    std::string package_name;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("package_name", self.package_name);
    }
};

std::string success(const protocol::PackagesInstallResult& result) {
    std::string text = "Installed:";
    for (const protocol::InstalledPackage& package : result.installed) {
        text += fmt::format(" {} {}", package.name, package.version);
    }
    return text +
           "\nThey can be imported now, and stay after reset. What the interpreter brings itself goes first; what "
           "was imported in another version stays so until reset.";
}

std::string failure(const protocol::PackagesInstallResult& result) {
    return fmt::format(
        "Nothing was installed: {}\n\n{}\nFor you only wheels are installed: a package of Python, or a version, "
        "without one for this Python cannot be installed. Try another version or package, or ask your user, "
        "who can run `cellgate install --allow-source-builds PACKAGE` in the workspace.",
        result.reason.value_or("the package manager failed"), result.output);
}

struct InstallTool {
    SidecarClient& sidecar;

    Task<protocol::CallToolResult> install(InstallArguments arguments, std::shared_ptr<ToolCall> call) {
        protocol::PackagesInstallParams params;
        params.session_id = co_await sidecar.own_session(std::nullopt, call);
        params.packages.push_back(std::move(arguments.package_name));
        SidecarClient::OnLine on_line = [call](const std::string& line) { call->report(plain_text(line)); };
        const protocol::PackagesInstallResult result =
            co_await sidecar.install(std::move(params), call, std::move(on_line));
        if (result.status == protocol::InstallStatus::failed) {
            co_return mcp::error_result(failure(result));
        }
        co_return mcp::text_result(success(result));
    }
};

constexpr std::string_view install_input = R"({"type":"object","properties":{
"package_name":{"type":"string","description":"As pip names it, with extras and versions if need be: requests, requests[socks], requests>=2,<3. Or a package of npm, for TypeScript: npm:lodash, npm:lodash@^4."}},
"required":["package_name"],"additionalProperties":false})";

} // namespace

mcp::Tool install_tool(SidecarClient& sidecar) {
    const auto tool = std::make_shared<InstallTool>(sidecar);
    return mcp::typed_tool<InstallArguments>(
        tool_spec(
            "install_package", "Install a package", Effect::fetches,
            "Installs a Python package, and what it needs, for your kernel, from wheels; or one of npm for TypeScript "
            "kernels, without its scripts. A user is asked first, and sees the whole command.",
            install_input),
        [tool](InstallArguments arguments, std::shared_ptr<ToolCall> call) {
            return tool->install(std::move(arguments), std::move(call));
        });
}

} // namespace cellgate::agent
