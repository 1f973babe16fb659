// install_package, as ipybox names it. ipybox installs into its own interpreter, outside of any sandbox. Here nothing
// is installed yet: the tool says what to do instead, so that a model does not try pip in a kernel without a network.

#include "mcp/content.hpp"
#include "mcp_tools.hpp"

namespace cellgate::cli {

namespace {

struct InstallArguments {
    static constexpr bool closed = true;
    std::string package_name;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("package_name", self.package_name);
    }
};

Task<protocol::CallToolResult> install(InstallArguments, std::shared_ptr<mcp::ToolCall>) {
    co_return mcp::error_result(
        "Nothing was installed: this version of cellgate cannot install packages, and the sandbox has no network for "
        "pip. Tell your user to install the package into the kernel's interpreter, and call reset afterwards. "
        "`import sys; print(sys.executable)` names the interpreter.");
}

constexpr std::string_view install_input = R"({"type":"object","properties":{
"package_name":{"type":"string","description":"As pip names it."}},"required":["package_name"],"additionalProperties":false})";

} // namespace

mcp::Tool install_tool() {
    return mcp::typed_tool<InstallArguments>(
        tool_spec("install_package",
                  "Cannot install yet: it says how your user installs a package into the kernel's interpreter.",
                  install_input),
        install);
}

} // namespace cellgate::cli
