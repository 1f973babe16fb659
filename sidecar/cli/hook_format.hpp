#pragma once
// `HookAgent` is an agent program that starts a command, its hook, before it calls one of its own tools: what it sends
// to the hook's stdin, and what it reads from its stdout. Formats: Claude Code's and Codex's documentation of hooks.

#include "base/raw_json.hpp"
#include "protocol/messages/policy.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::cli {

inline constexpr std::string_view before_each_tool = "PreToolUse";
inline constexpr std::string_view before_each_prompt = "PermissionRequest"; // where the program would ask its user

struct HookAgent {
    std::string_view name;             // rules have its tools under this name
    std::string_view title;            // approvals name it so
    std::string_view project_variable; // of the environment: the folder of its project; empty: it has none
    std::string_view settings_file;    // where its hooks are configured
    std::string_view usual_event;      // of that configuration
    bool before_tool_only_denies;      // it does not understand another answer to PreToolUse
};

inline constexpr std::array hook_agents{
    HookAgent{"claude", "Claude Code", "CLAUDE_PROJECT_DIR",
              "~/.claude/settings.json, or .claude/settings.json of the project", before_each_tool, false},
    HookAgent{"codex", "Codex", "", "~/.codex/hooks.json, or .codex/hooks.json of the project", before_each_prompt,
              true},
};

// What it wants to do.
struct HookCall {
    std::string event;
    std::string tool;
    RawJson arguments;
    std::string cwd;
    std::optional<std::string> session;
};

// Throws Error{parse_error}, Error{invalid_params}.
HookCall parse_hook_call(std::string_view input);

// What the hook writes; empty: nothing, so that the program goes on as without the hook.
std::string hook_answer(const HookAgent& agent, std::string_view event, protocol::ClientVerdict verdict,
                        std::string_view reason);

// The part of the program's settings. The command blocks the call if it ends in any other way than with an answer.
// `timeout`: seconds, after which the program goes on without an answer.
std::string hook_settings(const std::string& command, std::string_view event, std::int64_t timeout);

} // namespace cellgate::cli
