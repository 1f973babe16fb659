#pragma once
// `Request` is what an enforcement point asks the gate, and `Decision` what the gate answers.

#include "gate/action.hpp"
#include "gate/agent.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/policy.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace cellgate::gate {

// Counts the actions that were decided about since the gate began, from 1.
using ActionId = std::int64_t;

// An action that an enforcement point asks about, and its origin.
struct Request {
    Action action;
    std::optional<std::string> session_id;
    // What runs in that session by the sidecar's own record; none when nothing does.
    std::optional<std::string> execution_id;
    // Code in the session's kernel makes it. While nothing runs, it raises no prompt if the execution that began last
    // ran with approvals "deny".
    bool from_code = false;
    std::optional<Agent> agent; // on whose behalf it is made; none: a user's
    std::optional<protocol::Origin> origin;
    protocol::Hints hints; // as the tool server sent them; the gate makes them safe to show
    // Of a tool that is called: the JSON of which tool_identity is the SHA-256. Empty: there is nothing to compare.
    std::function<std::string()> definition;
    // Set where only a rule that names the host can allow the action: no user is asked, no wider grant counts, and this
    // is the reason of the denial.
    std::optional<std::string> needs_explicit_host_rule;
    // Why it is refused whatever rules say.
    std::optional<std::string> refusal;
    // The client that asks carries it out, and `session_id` is of the client's own, which no user knows.
    bool of_client = false;
    // Only a deny rule can stop it, since it is a part of an action that was allowed already. No user is asked.
    bool deny_rules_only = false;
    // The enforcement point awaits Gate::recorded() before it reports the result. So the action need not wait for the
    // record of a rule's yes.
    bool awaits_record = false;
    // What a user edits, where that is not the arguments.
    std::optional<RawJson> edit_form;
    // Makes the action with other arguments: checks these against the tool's schema, resolves what depends on them.
    // Throws Error when they do not fit. Empty: the action cannot be edited.
    std::function<Action(const RawJson& arguments)> edit;
};

struct Decision {
    ActionId action_id = 0; // 0: not recorded, since it is a part of an action that was
    bool allowed = false;
    Action action; // the one that may run: as it was requested, or as a user edited it
    bool edited = false;
    std::string reason; // in words; the code sees it when it is denied
    protocol::ResolvedBy by = protocol::ResolvedBy::rule;
    bool needs_confirmation = false;                    // a yes would have had to be confirmed
    std::optional<protocol::Rule> rule;                 // the rule that decided, or that the answer made
    std::optional<protocol::Confirmation> confirmation; // of the answer
};

} // namespace cellgate::gate
