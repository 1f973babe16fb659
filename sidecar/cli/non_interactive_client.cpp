#include "non_interactive_client.hpp"

#include "base/escape_unprintable.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "base/shell_words.hpp"
#include "gate/connection_rule.hpp"
#include "policy_text.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "tools/rule_text.hpp"

#include <algorithm>
#include <filesystem>

namespace cellgate::cli {

namespace {

constexpr std::size_t max_options = 20;
constexpr std::size_t max_rule_bytes = 400;
constexpr std::size_t max_arguments_bytes = 4000; // white space, which a rule leaves out, included

std::string option_for_call(const protocol::Action& action, bool exactly) {
    if (action.arguments_text->text().size() <= max_arguments_bytes) {
        const std::string narrow = tools::allow_rule_for(*action.server, *action.tool, *action.arguments_text, exactly);
        if (narrow.size() <= max_rule_bytes) {
            return "--allow " + shell_word(narrow);
        }
    }
    if (exactly) {
        return fmt::format("{} of {} with these arguments is too long for --allow: run it at a terminal",
                           escape_unprintable(*action.tool), escape_unprintable(*action.server));
    }
    const std::string wide = tools::allow_rule_for(*action.server, *action.tool, RawJson::checked("{}"), false);
    return fmt::format("--allow {}   (any call of it)", shell_word(wide));
}

} // namespace

void NonInteractiveClient::requested(const protocol::Approval& approval, LocalSidecar& sidecar) {
    tasks_.spawn(deny(approval, &sidecar));
}

Task<void> NonInteractiveClient::deny(protocol::Approval approval, LocalSidecar* sidecar) {
    protocol::ApprovalRespondParams params;
    params.approval_ids.push_back(approval.approval_id);
    params.decision = protocol::Verdict::deny;
    params.unattended = true;
    std::string asking = co_await asking_rule(approval, sidecar);
    params.reason = asking.empty() ? "there is no terminal to ask at, and no rule allows it"
                                   : "there is no terminal to ask at, and a rule asks about it: " + asking;
    co_await sidecar->call<protocol::ApprovalRespond>(std::move(params));
    if (!asking.empty()) {
        asking_.insert(std::move(asking));
        co_return;
    }
    if (options_.size() <= max_options) {
        std::string option = co_await option_for(std::move(approval), sidecar);
        if (known_.insert(option).second) {
            options_.push_back(std::move(option));
        }
    }
}

Task<std::string> NonInteractiveClient::asking_rule(protocol::Approval approval, LocalSidecar* sidecar) {
    using Kind = protocol::ActionKind;
    const Kind kind = approval.action.kind;
    const bool has_rules = kind == Kind::tool || kind == Kind::host || kind == Kind::network || kind == Kind::request;
    if (!has_rules || approval.confirm) {
        co_return std::string();
    }
    protocol::PolicyExplainParams params;
    params.action = std::move(approval.action);
    params.session_id = approval.session_id;
    params.execution_id = approval.execution_id;
    try {
        const protocol::PolicyExplainResult found = co_await sidecar->call<protocol::PolicyExplain>(std::move(params));
        if (found.effect == protocol::Effect::ask && found.rule) {
            co_return rule_line(*found.rule);
        }
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) { // it is denied all the same
        log_info("the rule that asks is not known: {}", error.message);
    }
    co_return std::string();
}

Task<std::string> NonInteractiveClient::option_for(protocol::Approval approval, LocalSidecar* sidecar) {
    const protocol::Action& action = approval.action;
    const std::string title = approval.display.empty() ? "the action" : escape_unprintable(approval.display.front());
    if (approval.confirm) {
        co_return fmt::format("run it at a terminal, and confirm with your security key: {}", title);
    }
    if (action.tool && action.arguments_text) {
        // Where no rule is among the choices, nothing but this very payload can be allowed.
        const bool exactly = std::none_of(approval.choices.begin(), approval.choices.end(),
                                          [](const protocol::Choice& choice) { return choice.rule.has_value(); });
        co_return option_for_call(action, exactly);
    }
    if (action.kind == protocol::ActionKind::network && action.host && action.port) {
        if (const std::optional<Host> host = parse_host(*action.host)) {
            const Endpoint endpoint{*host, static_cast<std::uint16_t>(*action.port)};
            co_return "--allow-domain " + shell_word(gate::host_entry(to_string(endpoint), action.protocol));
        }
    }
    if (action.kind == protocol::ActionKind::request && action.host && action.method && action.path) {
        if (const std::string narrow = tools::allow_rule_for_request(action); narrow.size() <= max_rule_bytes) {
            co_return "--allow " + shell_word(narrow);
        }
    }
    Empty nothing;
    const protocol::ToolServersListResult servers = co_await sidecar->call<protocol::ToolServersList>(nothing);
    for (const protocol::ToolServerInfo& server : servers.servers) {
        if (action.kind == protocol::ActionKind::server && server.name == action.server && server.file) {
            std::error_code error;
            const std::string file = std::filesystem::relative(*server.file, error);
            co_return fmt::format("--mcp-config {}   (allows starting what that file names)",
                                  shell_word(error || file.starts_with("..") ? *server.file : file));
        }
    }
    co_return fmt::format("run it at a terminal, and agree to: {}", title);
}

std::string NonInteractiveClient::advice() const {
    std::string text;
    if (!asking_.empty()) {
        text = "What was denied is asked about, whatever --allow says. Run it at a terminal, or remove the rule:";
        for (const std::string& rule : asking_) {
            text += "\n    " + rule;
        }
    }
    if (options_.empty()) {
        return text;
    }
    text += text.empty() ? "What was denied would be allowed by" : "\nWhat else was denied would be allowed by";
    for (std::size_t i = 0; i < std::min(options_.size(), max_options); ++i) {
        text += "\n    " + options_[i];
    }
    if (options_.size() > max_options) {
        text += "\n    and more";
    }
    return text;
}

Task<void> NonInteractiveClient::close() {
    co_await tasks_.join();
}

} // namespace cellgate::cli
