// Sessions of an agent: reset (as ipybox has it), interrupt, create_session, close_session, transfer.

#include "mcp/content.hpp"
#include "tools.hpp"

#include <fmt/format.h>

namespace cellgate::agent {

namespace {

using mcp::ToolCall;
using protocol::CallToolResult;

struct SessionArguments {
    static constexpr bool closed = true;
    std::optional<std::string> session;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("session", self.session);
    }
};

struct CreateArguments {
    static constexpr bool closed = true;
    std::optional<std::string> language;
    std::optional<std::string> profile;
    std::optional<std::string> cwd;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("language", self.language);
        visit("profile", self.profile);
        visit("cwd", self.cwd);
    }
};

struct CloseArguments {
    static constexpr bool closed = true;
    std::string session;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("session", self.session);
    }
};

struct TransferArguments {
    static constexpr bool closed = true;
    std::string name;
    std::string from;
    std::string to;
    std::optional<std::string> as;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("from", self.from);
        visit("to", self.to);
        visit("as", self.as);
    }
};

struct SessionTools {
    SidecarClient& sidecar;

    Task<std::string> session_of(std::optional<std::string> named, std::shared_ptr<ToolCall> call) {
        if (named) {
            co_return std::move(*named);
        }
        co_return co_await sidecar.own_session(std::nullopt, std::move(call));
    }

    // `place`: a session, or a language, which stands for the agent's own session of it.
    Task<std::string> session_at(std::string place, std::shared_ptr<ToolCall> call) {
        if (place.starts_with("agent-") || place == "default") {
            co_return std::move(place);
        }
        std::optional<std::string> language = kernel_language_of(std::move(place));
        co_return co_await sidecar.own_session(std::move(language), std::move(call));
    }

    Task<CallToolResult> reset(SessionArguments arguments, std::shared_ptr<ToolCall> call) {
        protocol::SessionRestartParams params;
        params.session_id = co_await session_of(std::move(arguments.session), call);
        const std::string session = params.session_id;
        std::exception_ptr not_found;
        try {
            co_await sidecar.call_with_approval<protocol::SessionRestart>(std::move(params), call);
        } catch (const protocol::RemoteError& error) {
            if (error.code != ErrorCode::session_not_found) {
                throw;
            }
            not_found = std::current_exception();
        }
        if (not_found) { // a user has closed it
            std::string closed = session;
            const bool is_renewed = co_await sidecar.renew(std::move(closed), std::move(call));
            if (!is_renewed) {
                std::rethrow_exception(not_found);
            }
        }
        sidecar.take_loss(session); // this result reports it
        co_return mcp::text_result("The kernel was restarted: variables and imports are gone.");
    }

    Task<CallToolResult> interrupt(SessionArguments arguments, std::shared_ptr<ToolCall> call) {
        protocol::SessionParams params;
        params.session_id = co_await session_of(std::move(arguments.session), call);
        try {
            co_await sidecar.call<protocol::SessionInterrupt>(std::move(params), std::move(call));
        } catch (const protocol::RemoteError& error) {
            if (error.code != ErrorCode::forbidden) {
                throw;
            }
            throw Error(error.code, "nothing of yours runs in this session");
        }
        co_return mcp::text_result("What ran was interrupted; variables are kept.");
    }

    Task<CallToolResult> create(CreateArguments arguments, std::shared_ptr<ToolCall> call) {
        protocol::SessionCreateParams params;
        params.language = kernel_language_of(std::move(arguments.language));
        params.profile = std::move(arguments.profile);
        params.cwd = std::move(arguments.cwd);
        const protocol::SessionInfo made = co_await sidecar.create_session(std::move(params), std::move(call));
        co_return mcp::text_result(fmt::format("session: {}\nlanguage: {}{}\nisolation: {}{}", made.session_id,
                                               made.kernel.language, version_of(made), fmt::join(made.layers, ", "),
                                               made.profile ? "\nprofile: " + *made.profile : std::string()));
    }

    static std::string version_of(const protocol::SessionInfo& session) {
        return session.kernel.version ? " " + *session.kernel.version : std::string();
    }

    Task<CallToolResult> close(CloseArguments arguments, std::shared_ptr<ToolCall> call) {
        co_await sidecar.close_session(std::move(arguments.session), std::move(call));
        co_return mcp::text_result("The session has ended, with its variables.");
    }

    Task<CallToolResult> transfer(TransferArguments arguments, std::shared_ptr<ToolCall> call) {
        protocol::SessionTransferParams params;
        params.name = std::move(arguments.name);
        params.as = std::move(arguments.as);
        params.from = co_await session_at(std::move(arguments.from), call);
        params.to = co_await session_at(std::move(arguments.to), call);
        const protocol::SessionTransferResult copied =
            co_await sidecar.call<protocol::SessionTransfer>(std::move(params), std::move(call));
        co_return mcp::text_result(fmt::format("copied: {}, {} bytes as JSON", copied.type, copied.bytes));
    }
};

constexpr std::string_view session_input = R"({"type":"object","properties":{
"session":{"type":"string","description":"Default: your own Python session."}},"additionalProperties":false})";

constexpr std::string_view create_input = R"({"type":"object","properties":{
"language":{"type":"string","description":"Default: python."},
"profile":{"type":"string","description":"Of runtimes: what the code may import, its limits, and how it is checked before it runs. None that opens hosts."},
"cwd":{"type":"string","description":"Where the kernel starts, in the workspace. Default: the workspace."}},"additionalProperties":false})";

constexpr std::string_view close_input = R"({"type":"object","properties":{
"session":{"type":"string","description":"One that you created, or your own of a language."}},"required":["session"],"additionalProperties":false})";

constexpr std::string_view transfer_input = R"({"type":"object","properties":{
"name":{"type":"string","description":"Of the variable."},
"from":{"type":"string","description":"A language: your own session of it. Or a session of create_session."},
"to":{"type":"string","description":"The same."},
"as":{"type":"string","description":"What it is called there. Default: the same."}},"required":["name","from","to"],"additionalProperties":false})";

mcp::Tool reset_tool(const std::shared_ptr<SessionTools>& tools, bool names_sessions) {
    const auto spec = [](std::string_view input) {
        return tool_spec("reset", "Restart the kernel", Effect::replaces,
                         "Restarts your kernel: variables and imports are gone. Needed after wrappers of a server "
                         "that was imported already were generated again.",
                         input);
    };
    if (!names_sessions) {
        return mcp::typed_tool<NoArguments>(spec(nothing_input), [tools](NoArguments, std::shared_ptr<ToolCall> call) {
            return tools->reset({}, std::move(call));
        });
    }
    return mcp::typed_tool<SessionArguments>(spec(session_input),
                                             [tools](SessionArguments arguments, std::shared_ptr<ToolCall> call) {
                                                 return tools->reset(std::move(arguments), std::move(call));
                                             });
}

} // namespace

std::vector<mcp::Tool> session_tools(SidecarClient& sidecar, bool names_sessions) {
    const auto tools = std::make_shared<SessionTools>(sidecar);
    std::vector<mcp::Tool> all;
    all.push_back(reset_tool(tools, names_sessions));
    all.push_back(mcp::typed_tool<SessionArguments>(
        tool_spec("interrupt", "Interrupt code", Effect::sets,
                  "Interrupts the code that you run now; variables are kept.", session_input),
        [tools](SessionArguments arguments, std::shared_ptr<ToolCall> call) {
            return tools->interrupt(std::move(arguments), std::move(call));
        }));
    all.push_back(mcp::typed_tool<CreateArguments>(
        tool_spec("create_session", "Start a session", Effect::adds,
                  "Starts another kernel of yours, and returns the session for execute.", create_input),
        [tools](CreateArguments arguments, std::shared_ptr<ToolCall> call) {
            return tools->create(std::move(arguments), std::move(call));
        }));
    all.push_back(mcp::typed_tool<CloseArguments>(tool_spec("close_session", "End a session", Effect::removes,
                                                            "Ends a session of yours, and its kernel.", close_input),
                                                  [tools](CloseArguments arguments, std::shared_ptr<ToolCall> call) {
                                                      return tools->close(std::move(arguments), std::move(call));
                                                  }));
    all.push_back(mcp::typed_tool<TransferArguments>(
        tool_spec("transfer", "Copy a variable", Effect::replaces,
                  "Copies a variable, as JSON, to another session of yours, of the same or another language. What JSON "
                  "does not have is an error that says where it is.",
                  transfer_input),
        [tools](TransferArguments arguments, std::shared_ptr<ToolCall> call) {
            return tools->transfer(std::move(arguments), std::move(call));
        }));
    return all;
}

} // namespace cellgate::agent
