#include "hook_format.hpp"

#include "base/error.hpp"
#include "base/json_codec.hpp"
#include "base/names.hpp"

#include <fmt/format.h>

#include <utility>

namespace cellgate::cli {

namespace {

using protocol::ClientVerdict;

struct HookInput {
    std::string event;
    std::string tool;
    RawJson arguments;
    std::string cwd;
    std::optional<std::string> session;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("hook_event_name", self.event);
        visit("tool_name", self.tool);
        visit("tool_input", self.arguments);
        visit("cwd", self.cwd);
        visit("session_id", self.session);
    }
};

std::string answer_before_tool(std::string_view verdict, std::string_view reason) {
    return fmt::format(
        R"({{"hookSpecificOutput":{{"hookEventName":"{}","permissionDecision":"{}","permissionDecisionReason":{}}}}})",
        before_each_tool, verdict, to_json(std::string(reason)));
}

std::string answer_before_prompt(std::string_view verdict, std::string_view rest) {
    return fmt::format(R"({{"hookSpecificOutput":{{"hookEventName":"{}","decision":{{"behavior":"{}"{}}}}}}})",
                       before_each_prompt, verdict, rest);
}

} // namespace

HookCall parse_hook_call(std::string_view input) {
    auto read = from_json<HookInput>(RawJson::parse(input), "input");
    if (read.event != before_each_tool && read.event != before_each_prompt) {
        throw Error(ErrorCode::invalid_params, fmt::format("input.hook_event_name: expected {} or {}, found {}",
                                                           before_each_tool, before_each_prompt, to_json(read.event)));
    }
    if (read.session && !is_identifier(*read.session)) {
        read.session.reset();
    }
    return {std::move(read.event), std::move(read.tool), std::move(read.arguments), std::move(read.cwd),
            std::move(read.session)};
}

std::string hook_answer(const HookAgent& agent, std::string_view event, ClientVerdict verdict,
                        std::string_view reason) {
    const std::string words = fmt::format("cellgate: {}", reason);
    if (event == before_each_prompt) {
        switch (verdict) {
        case ClientVerdict::allow:
            return answer_before_prompt("allow", "");
        case ClientVerdict::deny:
            return answer_before_prompt("deny", fmt::format(R"(,"message":{})", to_json(words)));
        case ClientVerdict::ask:
            return {};
        }
    }
    if (verdict == ClientVerdict::deny) {
        return answer_before_tool("deny", words);
    }
    if (agent.before_tool_only_denies) {
        return verdict == ClientVerdict::allow
                   ? std::string()
                   : answer_before_tool("deny", fmt::format("{}. {} cannot ask in its place", words, agent.title));
    }
    return answer_before_tool(verdict == ClientVerdict::allow ? "allow" : "ask", words);
}

std::string hook_settings(const std::string& command, std::string_view event, std::int64_t timeout) {
    const std::string guarded = command + " || { echo 'cellgate gave no answer' >&2; exit 2; }";
    return fmt::format(R"({{
  "hooks": {{
    "{}": [
      {{
        "hooks": [
          {{
            "type": "command",
            "command": {},
            "timeout": {}
          }}
        ]
      }}
    ]
  }}
}}
)",
                       event, to_json(guarded), timeout);
}

} // namespace cellgate::cli
