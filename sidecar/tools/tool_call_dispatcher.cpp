#include "tools/tool_call_dispatcher.hpp"

#include "gate/gate.hpp"
#include "tools/argument_check.hpp"

#include <fmt/format.h>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_argument_bytes = std::size_t{8} << 20;
// A server whose tools are others each time would have a user asked without end.
constexpr int max_decisions = 4;

void require_fitting(const protocol::ToolSpec& spec, const RawJson& arguments) {
    if (!arguments.is_object()) {
        throw Error(ErrorCode::arguments_invalid,
                    fmt::format("arguments: expected an object, found {}", arguments.type()));
    }
    if (arguments.text().size() > max_argument_bytes) {
        throw Error(ErrorCode::limit_exceeded, fmt::format("expected arguments of at most {} bytes, found {}",
                                                           max_argument_bytes, arguments.text().size()));
    }
    if (const std::optional<std::string> problem = check_arguments(spec.input_schema, arguments)) {
        throw Error(ErrorCode::arguments_invalid, *problem);
    }
}

protocol::Hints hints_of(const protocol::ToolSpec& spec) {
    protocol::Hints hints;
    hints.title = spec.title;
    hints.description = spec.description;
    if (spec.annotations) {
        if (!hints.title) {
            hints.title = spec.annotations->title;
        }
        hints.read_only_hint = spec.annotations->read_only_hint;
        hints.destructive_hint = spec.annotations->destructive_hint;
        hints.idempotent_hint = spec.annotations->idempotent_hint;
        hints.open_world_hint = spec.annotations->open_world_hint;
    }
    return hints;
}

} // namespace

gate::Action ToolCallDispatcher::action_of(const Registry::Tool& tool, const std::string& server,
                                           const RawJson& arguments) const {
    if (server == host_server_name) {
        gate::HostCall call;
        call.tool = tool.spec.name;
        call.arguments = arguments;
        call.command = registry_.host().command_of(call.tool, arguments);
        call.server_identity = tool.server_identity;
        call.tool_identity = tool.identity;
        return call;
    }
    gate::ToolCall call;
    call.server = server;
    call.tool = tool.spec.name;
    call.arguments = arguments;
    call.server_identity = tool.server_identity;
    call.tool_identity = tool.identity;
    return call;
}

Task<protocol::CallToolResult> ToolCallDispatcher::call(CallContext context, std::string server, std::string tool,
                                                        RawJson arguments) {
    for (int decisions = 0; decisions < max_decisions; ++decisions) {
        const std::shared_ptr<const Registry::Tool> found = co_await registry_.find_tool(context, server, tool);
        require_fitting(found->spec, arguments);
        if (server == host_server_name) {
            co_await registry_.host().check(tool, arguments);
        }
        gate::Request request;
        request.action = action_of(*found, server, arguments);
        request.session_id = context.session_id;
        request.execution_id = context.execution_id;
        request.from_code = context.from_code;
        request.agent = context.agent;
        request.origin = context.origin;
        request.hints = hints_of(found->spec);
        request.edit = [this, found, server](const RawJson& edited) {
            require_fitting(found->spec, edited);
            return action_of(*found, server, edited);
        };
        const gate::Decision decision = co_await gate_.decide(std::move(request));
        if (!decision.allowed) {
            throw Error(ErrorCode::denied, decision.reason);
        }
        // These bytes were matched, hashed and shown; no others are sent.
        if (const auto* host = std::get_if<gate::HostCall>(&decision.action)) {
            co_return co_await registry_.host().call(tool, host->arguments, host->command);
        }
        std::optional<protocol::CallToolResult> result =
            co_await registry_.call(context, found, server, std::get<gate::ToolCall>(decision.action).arguments);
        if (result) {
            co_return std::move(*result);
        }
    }
    throw Error(
        ErrorCode::tool_server_failed,
        fmt::format("the tool server \"{}\" changed its tools again and again while a call was decided about", server));
}

} // namespace cellgate::tools
