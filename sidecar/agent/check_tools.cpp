// What an agent can know before it runs code: validate, runtimes.

#include "base/enum_name.hpp"
#include "base/json_codec.hpp"
#include "mcp/content.hpp"
#include "protocol/messages/kernels.hpp"
#include "protocol/not_checked.hpp"
#include "tools.hpp"

#include <fmt/format.h>

namespace cellgate::agent {

namespace {

using mcp::ToolCall;
using protocol::CallToolResult;

struct ValidateArguments {
    static constexpr bool closed = true;
    std::string code;
    std::optional<std::string> language;
    std::optional<std::string> profile;
    std::optional<std::string> session;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("code", self.code);
        visit("language", self.language);
        visit("profile", self.profile);
        visit("session", self.session);
    }
};

std::string line_of(const protocol::Diagnostic& found) {
    std::string line =
        fmt::format("line {}: {}: {} ({})", found.line + 1, enum_name(found.severity), found.message, found.rule);
    if (found.install) {
        line += fmt::format("; install_package {}", fmt::join(*found.install, " "));
    }
    return line;
}

struct CheckTools {
    SidecarClient& sidecar;

    Task<CallToolResult> validate(ValidateArguments arguments, std::shared_ptr<ToolCall> call) {
        protocol::ValidateParams params;
        params.code = std::move(arguments.code);
        params.language = kernel_language_of(std::move(arguments.language));
        params.profile = std::move(arguments.profile);
        params.session_id = std::move(arguments.session);
        const protocol::ValidateResult found =
            co_await sidecar.call<protocol::Validate>(std::move(params), std::move(call));
        const std::optional<protocol::Diagnostic> unread = protocol::not_checked(found);
        std::string text = unread ? unread->message : std::string();
        for (const protocol::Diagnostic& each : found.diagnostics) {
            text += line_of(each) + "\n";
        }
        if (text.empty()) {
            text = "nothing was found";
        }
        CallToolResult result = mcp::text_result(text);
        result.structured_content = to_raw_json(found);
        co_return result;
    }

    Task<CallToolResult> runtimes(NoArguments, std::shared_ptr<ToolCall> call) {
        Empty nothing;
        const protocol::RuntimesResult known = co_await sidecar.call<protocol::Runtimes>(nothing, std::move(call));
        std::string text;
        for (const protocol::Runtime& runtime : known.runtimes) {
            text += fmt::format("{}{}\n", runtime.language, runtime.problem ? ": " + *runtime.problem : "");
        }
        for (const protocol::Profile& profile : known.profiles) {
            text += fmt::format("profile {}: {}\n", profile.name, profile.description);
        }
        CallToolResult result = mcp::text_result(text);
        result.structured_content = to_raw_json(known);
        co_return result;
    }
};

constexpr std::string_view validate_input = R"({"type":"object","properties":{
"code":{"type":"string"},
"language":{"type":"string","description":"python (default), typescript, javascript, bash."},
"profile":{"type":"string","description":"Of runtimes: what it does not offer is an error."},
"session":{"type":"string","description":"Whose names, interpreter and packages the code may use."}},"required":["code"],"additionalProperties":false})";

} // namespace

std::vector<mcp::Tool> check_tools(SidecarClient& sidecar) {
    const auto tools = std::make_shared<CheckTools>(sidecar);
    std::vector<mcp::Tool> all;
    all.push_back(mcp::typed_tool<ValidateArguments>(
        tool_spec("validate", "Check code", Effect::reads,
                  "Looks at code without running it: syntax, imports that are not there, wrong arguments of wrappers, "
                  "dangerous patterns. In the structured result lines count from 0, and `edits` would mend a finding.",
                  validate_input),
        [tools](ValidateArguments arguments, std::shared_ptr<ToolCall> call) {
            return tools->validate(std::move(arguments), std::move(call));
        }));
    all.push_back(mcp::typed_tool<NoArguments>(
        tool_spec("runtimes", "List languages", Effect::reads,
                  "Lists the languages that can be run, and the profiles of create_session.", nothing_input),
        [tools](NoArguments arguments, std::shared_ptr<ToolCall> call) {
            return tools->runtimes(arguments, std::move(call));
        }));
    return all;
}

} // namespace cellgate::agent
