#pragma once
// `Action`, `Rule` and `Approval` are what the gate exchanges with clients: what needs permission, what decides, what
// waits for a user.

#include "base/json_codec.hpp"
#include "protocol/peer.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::protocol {

enum class ActionKind { tool, host, server, network, install };
inline constexpr EnumNames<ActionKind, 5> enum_names(ActionKind) {
    return {{{ActionKind::tool, "tool"},
             {ActionKind::host, "host"},
             {ActionKind::server, "server"},
             {ActionKind::network, "network"},
             {ActionKind::install, "install"}}};
}

enum class Effect { allow, ask, deny };
inline constexpr EnumNames<Effect, 3> enum_names(Effect) {
    return {{{Effect::allow, "allow"}, {Effect::ask, "ask"}, {Effect::deny, "deny"}}};
}

enum class Scope { once, execution, session, workspace, always };
inline constexpr EnumNames<Scope, 5> enum_names(Scope) {
    return {{{Scope::once, "once"},
             {Scope::execution, "execution"},
             {Scope::session, "session"},
             {Scope::workspace, "workspace"},
             {Scope::always, "always"}}};
}

enum class Verdict { allow, deny };
inline constexpr EnumNames<Verdict, 2> enum_names(Verdict) {
    return {{{Verdict::allow, "allow"}, {Verdict::deny, "deny"}}};
}

enum class ResolvedBy { user, rule, cancelled, no_client, elicitation };
inline constexpr EnumNames<ResolvedBy, 5> enum_names(ResolvedBy) {
    return {{{ResolvedBy::user, "user"},
             {ResolvedBy::rule, "rule"},
             {ResolvedBy::cancelled, "cancelled"},
             {ResolvedBy::no_client, "noClient"},
             {ResolvedBy::elicitation, "elicitation"}}};
}

enum class RuleSource { default_rule, user, command_line, execution, session, workspace_store, user_store };
inline constexpr EnumNames<RuleSource, 7> enum_names(RuleSource) {
    return {{{RuleSource::default_rule, "default"},
             {RuleSource::user, "user"},
             {RuleSource::command_line, "commandLine"},
             {RuleSource::execution, "execution"},
             {RuleSource::session, "session"},
             {RuleSource::workspace_store, "workspaceStore"},
             {RuleSource::user_store, "userStore"}}};
}

// What one argument has to be: exactly one of the three.
struct Matcher {
    static constexpr bool closed = true;
    std::optional<RawJson> equals;
    std::optional<std::string> glob;
    std::optional<std::string> under;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("equals", self.equals);
        visit("glob", self.glob);
        visit("under", self.under);
    }
};

// A rule as one is written; an absent field matches all. `arguments` maps JSON pointers to matchers.
struct RuleSpec {
    static constexpr bool closed = true;
    Effect effect = Effect::ask;
    std::optional<ActionKind> kind;
    std::optional<std::string> server;
    std::optional<std::string> tool;
    std::optional<std::map<std::string, Matcher>> arguments;
    std::optional<std::string> host; // a HostPattern (base/host.hpp)
    std::optional<std::string> expires_at;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("effect", self.effect);
        visit("kind", self.kind);
        visit("server", self.server);
        visit("tool", self.tool);
        visit("arguments", self.arguments);
        visit("host", self.host);
        visit("expiresAt", self.expires_at);
    }
};

// A rule in force.
struct Rule {
    std::string id;
    Effect effect = Effect::ask;
    std::optional<ActionKind> kind;
    std::optional<std::string> server;
    std::optional<std::string> tool;
    std::optional<std::map<std::string, Matcher>> arguments;
    std::optional<std::string> host;
    std::optional<std::string> payload_hash;
    std::optional<std::string> server_identity;
    std::optional<std::string> tool_identity;
    RuleSource source = RuleSource::default_rule;
    std::optional<std::string> session_id;
    std::optional<std::string> execution_id;
    std::optional<std::string> created_at;
    std::optional<std::string> expires_at;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("id", self.id);
        visit("effect", self.effect);
        visit("kind", self.kind);
        visit("server", self.server);
        visit("tool", self.tool);
        visit("arguments", self.arguments);
        visit("host", self.host);
        visit("payloadHash", self.payload_hash);
        visit("serverIdentity", self.server_identity);
        visit("toolIdentity", self.tool_identity);
        visit("source", self.source);
        visit("sessionId", self.session_id);
        visit("executionId", self.execution_id);
        visit("createdAt", self.created_at);
        visit("expiresAt", self.expires_at);
    }
};

// One thing that needs permission, with its exact payload.
struct Action {
    ActionKind kind = ActionKind::tool;
    std::optional<std::string> server;
    std::optional<std::string> tool;
    std::optional<JsonText> arguments;
    std::optional<std::vector<std::string>> command;
    std::optional<std::string> cwd;
    std::optional<std::vector<std::string>> environment_names;
    std::optional<std::map<std::string, std::string>> environment; // what a file of the workspace says, as written
    std::optional<bool> sandbox;
    std::optional<std::string> sandbox_config; // the settings file
    std::optional<JsonText> sandbox_settings;  // what it says
    std::optional<std::vector<std::string>> folders;
    std::optional<std::string> host;
    std::optional<std::int64_t> port;
    std::optional<std::string> program; // inside, which wants to connect; as it says
    std::optional<std::string> server_identity;
    std::optional<std::string> tool_identity;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("kind", self.kind);
        visit("server", self.server);
        visit("tool", self.tool);
        visit("argumentsText", self.arguments);
        visit("command", self.command);
        visit("cwd", self.cwd);
        visit("environmentNames", self.environment_names);
        visit("environment", self.environment);
        visit("sandbox", self.sandbox);
        visit("sandboxConfig", self.sandbox_config);
        visit("sandboxSettingsText", self.sandbox_settings);
        visit("folders", self.folders);
        visit("host", self.host);
        visit("port", self.port);
        visit("program", self.program);
        visit("serverIdentity", self.server_identity);
        visit("toolIdentity", self.tool_identity);
    }
};

// The source line that makes the call. Which line it is, the code reported; the text is from our record of the cell.
struct Origin {
    std::optional<std::string> uri;
    std::int64_t line = 0;
    std::string text;
    std::string reported_by = "code";
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("uri", self.uri);
        visit("line", self.line);
        visit("text", self.text);
        visit("reportedBy", self.reported_by);
    }
};

struct Hints {
    std::optional<std::string> title;
    std::optional<std::string> description;
    std::optional<bool> read_only_hint;
    std::optional<bool> destructive_hint;
    std::optional<bool> idempotent_hint;
    std::optional<bool> open_world_hint;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("title", self.title);
        visit("description", self.description);
        visit("readOnlyHint", self.read_only_hint);
        visit("destructiveHint", self.destructive_hint);
        visit("idempotentHint", self.idempotent_hint);
        visit("openWorldHint", self.open_world_hint);
    }
};

// An answer that is offered. Without a rule: exactly this payload.
struct Choice {
    std::string label;
    Scope scope = Scope::once;
    std::optional<RuleSpec> rule;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("label", self.label);
        visit("scope", self.scope);
        visit("rule", self.rule);
    }
};

struct Approval {
    std::string approval_id;
    Action action;
    std::optional<std::string> session_id;
    std::optional<std::string> execution_id;
    std::optional<std::string> agent; // on whose behalf, as it calls itself
    std::optional<Origin> origin;
    Hints hints;
    std::vector<std::string> display;
    std::optional<std::string> edit_text; // the arguments, where they can be edited
    std::vector<Choice> choices;
    std::string created_at;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("approvalId", self.approval_id);
        visit("action", self.action);
        visit("sessionId", self.session_id);
        visit("executionId", self.execution_id);
        visit("agent", self.agent);
        visit("origin", self.origin);
        visit("hints", self.hints);
        visit("display", self.display);
        visit("editText", self.edit_text);
        visit("choices", self.choices);
        visit("createdAt", self.created_at);
    }
};

struct ApprovalRespondParams {
    std::vector<std::string> approval_ids;
    Verdict decision = Verdict::deny;
    std::optional<Scope> scope;
    std::optional<RuleSpec> rule;
    std::optional<std::string> arguments_text; // edited ones
    std::optional<std::string> reason;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("approvalIds", self.approval_ids);
        visit("decision", self.decision);
        visit("scope", self.scope);
        visit("rule", self.rule);
        visit("argumentsText", self.arguments_text);
        visit("reason", self.reason);
    }
};

struct ApprovalResolvedParams {
    std::string approval_id;
    Verdict decision = Verdict::deny;
    ResolvedBy by = ResolvedBy::user;
    std::optional<std::string> rule_id;
    std::optional<std::string> reason;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("approvalId", self.approval_id);
        visit("decision", self.decision);
        visit("by", self.by);
        visit("ruleId", self.rule_id);
        visit("reason", self.reason);
    }
};

// An approval of an agent's own, for the user at its program; the answer is for exactly this, once.
struct ApprovalElicitParams {
    std::optional<std::string> execution_id;
    std::vector<std::string> display;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("display", self.display);
    }
};

struct ApprovalElicitResult {
    Verdict decision = Verdict::deny;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("decision", self.decision);
    }
};

struct PolicyListResult {
    std::vector<Rule> rules;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("rules", self.rules);
    }
};

// A decision of the gate about an action, whether a user was asked or not.
struct PastDecision {
    std::int64_t number = 0; // counts all since cellgate began, from 1
    std::string decided_at;
    Verdict decision = Verdict::deny;
    ResolvedBy by = ResolvedBy::rule;
    std::optional<Rule> rule; // that decided, or that the answer made, as it was then
    std::string reason;
    std::optional<Action> action; // none when its payload was too large to keep
    std::optional<bool> edited;   // a user changed the arguments
    std::vector<std::string> display;
    std::optional<std::string> approval_id; // of what a user was asked about
    std::optional<std::string> session_id;
    std::optional<std::string> execution_id;
    std::optional<std::string> agent;
    std::optional<Origin> origin;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("number", self.number);
        visit("decidedAt", self.decided_at);
        visit("decision", self.decision);
        visit("by", self.by);
        visit("rule", self.rule);
        visit("reason", self.reason);
        visit("action", self.action);
        visit("edited", self.edited);
        visit("display", self.display);
        visit("approvalId", self.approval_id);
        visit("sessionId", self.session_id);
        visit("executionId", self.execution_id);
        visit("agent", self.agent);
        visit("origin", self.origin);
    }
};

struct PolicyDecisionsResult {
    std::vector<PastDecision> decisions; // newest first
    std::int64_t forgotten = 0;          // how many more there were
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("decisions", self.decisions);
        visit("forgotten", self.forgotten);
    }
};

struct PolicyAddParams {
    RuleSpec rule;
    Scope scope = Scope::session;
    std::optional<std::string> session_id;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("rule", self.rule);
        visit("scope", self.scope);
        visit("sessionId", self.session_id);
    }
};

struct PolicyRemoveParams {
    std::string rule_id;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("ruleId", self.rule_id);
    }
};

struct PolicyExplainParams {
    Action action;
    std::optional<std::string> session_id;
    std::optional<std::string> execution_id;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("action", self.action);
        visit("sessionId", self.session_id);
        visit("executionId", self.execution_id);
    }
};

struct PolicyExplainResult {
    Effect effect = Effect::ask;
    std::optional<Rule> rule;
    std::string reason;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("effect", self.effect);
        visit("rule", self.rule);
        visit("reason", self.reason);
    }
};

struct ApprovalRequested : Notification<Approval> {
    static constexpr std::string_view name = "approval/requested";
};
struct ApprovalRespond : Request<ApprovalRespondParams, Empty> {
    static constexpr std::string_view name = "approval/respond";
};
struct ApprovalResolved : Notification<ApprovalResolvedParams> {
    static constexpr std::string_view name = "approval/resolved";
};
struct ApprovalElicit : Request<ApprovalElicitParams, ApprovalElicitResult> {
    static constexpr std::string_view name = "approval/elicit";
};
struct PolicyList : Request<Empty, PolicyListResult> {
    static constexpr std::string_view name = "policy/list";
};
struct PolicyAdd : Request<PolicyAddParams, Rule> {
    static constexpr std::string_view name = "policy/add";
};
struct PolicyRemove : Request<PolicyRemoveParams, Empty> {
    static constexpr std::string_view name = "policy/remove";
};
struct PolicyDecisions : Request<Empty, PolicyDecisionsResult> {
    static constexpr std::string_view name = "policy/decisions";
};
struct PolicyExplain : Request<PolicyExplainParams, PolicyExplainResult> {
    static constexpr std::string_view name = "policy/explain";
};

} // namespace cellgate::protocol
