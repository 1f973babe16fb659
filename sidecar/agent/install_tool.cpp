// install_package, with ipybox's name and parameter. ipybox installs into its own interpreter, unasked; here it is an
// action that a user is asked about.

#include "mcp/content.hpp"
#include "output_reader.hpp"
#include "tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

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

constexpr std::string_view unreached =
    "pip did not reach the package index, as it says above; that tells nothing of the package. Try again, or ask your "
    "user to look at the machine's network, and at the index and the proxy in pip's configuration.";
constexpr std::string_view no_wheel =
    "For you only wheels are installed: a package of Python, or a version, without one for this Python cannot be "
    "installed. Try another version or package, or ask your user, who can run `cellgate install --allow-source-builds "
    "PACKAGE` in the workspace.";

struct InstallAdvice {
    std::string_view said; // by pip
    std::string_view advice;
};

// The first one counts: pip that reaches no index also says that there is no matching distribution.
constexpr std::array<InstallAdvice, 4> install_advice = {{{"after connection broken by", unreached},
                                                          {"Could not fetch URL", unreached},
                                                          {"not a trusted or secure host", unreached},
                                                          {"No matching distribution found", no_wheel}}};

std::string failure(const protocol::PackagesInstallResult& result) {
    const auto fits = [&result](const InstallAdvice& each) {
        return result.output.find(each.said) != std::string::npos;
    };
    const auto* advice = std::find_if(install_advice.begin(), install_advice.end(), fits);
    return fmt::format("Nothing was installed: {}\n\n{}{}{}", result.reason.value_or("the package manager failed"),
                       result.output, advice == install_advice.end() ? "" : "\n",
                       advice == install_advice.end() ? "" : advice->advice);
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
