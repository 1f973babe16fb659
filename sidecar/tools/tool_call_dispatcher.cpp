#include "tools/tool_call_dispatcher.hpp"

#include "base/log.hpp"
#include "base/scope_exit.hpp"
#include "base/suggest.hpp"
#include "default_arguments.hpp"
#include "followed_call.hpp"
#include "gate/gate.hpp"
#include "mcp/request_not_taken.hpp"
#include "result_check.hpp"
#include "rule_check.hpp"
#include "running_servers.hpp"
#include "server_errors.hpp"
#include "tools/argument_check.hpp"

#include <fmt/format.h>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_argument_bytes = std::size_t{8} << 20;
// A server whose tools are others each time would have a user asked without end.
constexpr int max_call_decisions = 4;

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

// Throws Error{tool_not_found}.
ToolPtr require_tool(const std::vector<ToolPtr>& tools, const std::string& server, const std::string& name) {
    ToolPtr found = find_tool(tools, name);
    if (!found) {
        std::vector<std::string> names;
        for (const ToolPtr& each : tools) {
            names.push_back(each->spec.name);
        }
        throw Error(ErrorCode::tool_not_found,
                    fmt::format("the tool server {} has no tool {}", in_quotes(server), in_quotes(name)),
                    did_you_mean(name, names));
    }
    return found;
}

gate::Request call_request(const CallContext& context, const std::shared_ptr<ToolServer>& server, const ToolPtr& tool,
                           const RawJson& arguments) {
    gate::Request request;
    request.action = server->action_of(*tool, arguments);
    request.session_id = context.session_id;
    request.execution_id = context.execution_id;
    request.from_code = context.from_code;
    request.agent = context.agent;
    request.origin = context.origin;
    request.awaits_record = true;
    request.hints = hints_of(tool->spec);
    request.definition = [tool] { return definition_of(tool->spec); };
    if (server->may_be_edited()) {
        request.edit = [server, tool](const RawJson& edited) {
            require_fitting(tool->spec, edited);
            return server->action_of(*tool, edited);
        };
    }
    return request;
}

// None while stored rules cannot be read: the gate denies everything then.
std::vector<protocol::Rule> rules_in_force(gate::Gate& gate) {
    try {
        return gate.policy_list().rules;
    } catch (const Error&) {
        return {};
    }
}

// A result that says that the tool failed has the reason in its first text.
void report(const protocol::CallToolResult& result, gate::OutcomeReport& outcome) {
    if (!result.is_error.value_or(false)) {
        outcome.succeeded();
        return;
    }
    for (const std::string_view block : json_elements(result.content.text())) {
        if (const std::optional<std::string> text = json_member_text(block, "text")) {
            outcome.failed(*text);
            return;
        }
    }
    outcome.failed("the tool says that it failed");
}

protocol::RuleSpec spec_of(const protocol::Rule& rule) {
    protocol::RuleSpec spec;
    spec.effect = rule.effect;
    spec.kind = rule.kind;
    spec.server = rule.server;
    spec.tool = rule.tool;
    spec.arguments = rule.arguments;
    return spec;
}

// The id of a rule of the command line is shown nowhere.
std::string known_as(const protocol::Rule& rule, const gate::Gate& gate) {
    return in_quotes(rule.source == protocol::RuleSource::command_line ? gate.policy_words(spec_of(rule)) : rule.id);
}

std::optional<RuleProblem> problem_of(const protocol::Rule& rule, const std::string& server, const ToolServer& offering,
                                      const Tool& tool) {
    // One whose name is spelled like this tool's means it, unless there is a tool of that very name.
    const bool is_meant = !rule.tool || *rule.tool == tool.spec.name ||
                          (is_spelled_like(*rule.tool, tool.spec.name) && !find_tool(offering.tools(), *rule.tool));
    if (!is_meant) {
        return std::nullopt;
    }
    return check_rule(spec_of(rule), server, offering.tools());
}

} // namespace

void ToolCallDispatcher::require_fitting_rules(const CallContext& context, const std::string& server,
                                               const ToolServer& offering, const Tool& tool) const {
    const std::uint64_t version = gate_.stored_rules_version();
    if (tool.fitting_rules == version) {
        return; // a rule that was added otherwise was checked then
    }
    std::optional<Error> denial;
    tool.fitting_rules = version;
    for (const protocol::Rule& rule : rules_in_force(gate_)) {
        const std::optional<RuleProblem> problem = problem_of(rule, server, offering, tool);
        if (!problem) {
            continue;
        }
        log_warning("the rule {} can match no call: {}. {}", known_as(rule, gate_), problem->what, problem->hint);
        if (rule.effect != protocol::Effect::deny) {
            continue;
        }
        tool.fitting_rules.reset(); // checked again by the next call
        if (!rule.session_id || rule.session_id == context.session_id) {
            denial.emplace(ErrorCode::denied,
                           fmt::format("the deny rule {} can match no call: {}", in_quotes(rule.id), problem->what),
                           fmt::format("{}{}Until the rule is corrected or removed, what it may mean is denied.",
                                       problem->hint, problem->hint.empty() ? "" : " "));
        }
    }
    if (denial) {
        throw Error(*denial);
    }
}

Task<void> ToolCallDispatcher::note_review(const CallContext* context, const gate::Action* action) {
    if (!context->on_reviewed) {
        co_return;
    }
    gate::Request request;
    request.action = *action;
    request.session_id = context->session_id;
    request.execution_id = context->execution_id;
    request.from_code = context->from_code;
    request.agent = context->agent;
    const bool reviewed = co_await gate_.reviews(std::move(request));
    if (reviewed) {
        const protocol::Action named = gate::to_protocol(*action);
        context->on_reviewed(fmt::format("{}/{}", named.server.value_or(""), named.tool.value_or("")));
    }
}

Task<std::optional<protocol::CallToolResult>> ToolCallDispatcher::call_allowed(CallContext context, std::string server,
                                                                               ToolPtr tool, gate::Decision decision) {
    const gate::Action& allowed = decision.action;
    const auto follower = std::make_shared<FollowedCall>(clock_, elicitor_, context, server, tool->spec.name);
    follower->set_trace_parent(gate_.trace_parent(decision, context.execution_id));
    const ScopeExit ended([&follower] { follower->end(); });
    for (bool again = false;; again = true) {
        // It may have ended meanwhile. The bytes that were matched, hashed and shown are sent, and no others.
        const std::shared_ptr<ToolServer> called = co_await servers_.running(context, server);
        gate::Action sent = allowed;
        std::shared_ptr<mcp::CallFollower> following = follower;
        try {
            std::optional<protocol::CallToolResult> result =
                co_await called->call(tool, std::move(sent), context, std::move(following));
            for (const std::string& why : follower->declined()) {
                called->add_to_log("cellgate: " + why);
            }
            if (result) {
                result = with_notes(std::move(*result), follower->declined());
            }
            co_return result;
        } catch (const mcp::RequestNotTaken&) {
            if (again) {
                throw;
            }
        }
    }
}

Task<protocol::CallToolResult> ToolCallDispatcher::call(CallContext context, std::string server, std::string tool,
                                                        RawJson arguments) {
    for (int decisions = 0; decisions < max_call_decisions; ++decisions) {
        const std::shared_ptr<ToolServer> offering = co_await servers_.running(context, server);
        co_await offering->refresh();
        const ToolPtr named = require_tool(offering->tools(), server, tool);
        arguments = with_defaults(named->spec.input_schema, std::move(arguments));
        require_fitting(named->spec, arguments);
        const auto [found, sent] = co_await offering->resolve(named, arguments);
        require_fitting_rules(context, server, *offering, *found);
        co_await offering->check(found, sent);
        gate::Request request = call_request(context, offering, found, sent);
        gate::Decision decision = co_await gate_.decide(std::move(request));
        if (!decision.allowed) {
            throw Error(ErrorCode::denied, decision.reason);
        }
        gate::OutcomeReport outcome = gate_.outcome_report(decision);
        co_await note_review(&context, &decision.action);
        Event stop;
        const gate::ActionId action = decision.action_id;
        running_[action] = &stop;
        const ScopeExit ended([this, action] { running_.erase(action); });
        auto calling = unless(&stop, call_allowed(context, server, found, std::move(decision)));
        auto reported = gate::reporting_failure(outcome, std::move(calling));
        std::optional<std::optional<protocol::CallToolResult>> result =
            co_await finally(std::move(reported), gate_.recorded());
        if (!result) {
            throw Error(ErrorCode::request_cancelled, "a user cancelled this call");
        }
        if (*result) {
            report(**result, outcome);
            co_return std::move(**result);
        }
        outcome.failed("the tool server changed the tool before it was called");
    }
    throw Error(
        ErrorCode::tool_server_failed,
        fmt::format("the tool server \"{}\" changed its tools again and again while a call was decided about", server));
}

void ToolCallDispatcher::cancel(gate::ActionId decision) {
    const auto found = running_.find(decision);
    if (found != running_.end()) {
        found->second->set();
    }
}

} // namespace cellgate::tools
