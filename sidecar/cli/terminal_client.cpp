#include "terminal_client.hpp"

#include "approval_prompt.hpp"
#include "argument_error.hpp"
#include "base/environment.hpp"
#include "base/sync.hpp"
#include "elicitation_prompt.hpp"
#include "terminal_text.hpp"
#include "tool_remark.hpp"

#include <algorithm>

namespace cellgate::cli {

TerminalClient::TerminalClient(async::Loop& loop, service::SidecarOptions options)
    : loop_(loop), terminal_(Terminal::open(loop)),
      prompts_(terminal_ ? std::make_unique<PromptQueue>(*terminal_, printer_) : nullptr),
      sidecar_(loop, std::move(options), *this, terminal_ != nullptr) {}

TerminalClient::~TerminalClient() = default;

Task<void> TerminalClient::close() {
    if (prompts_) {
        co_await prompts_->close();
    }
    co_await non_interactive_.close();
    co_await sidecar_.close();
    if (terminal_) {
        co_await terminal_->close();
    }
}

void TerminalClient::on_output(const protocol::ExecuteOutputParams& output) {
    if (prints_json_) {
        printer_.print_line(to_json(output));
    } else if (output.output) {
        printer_.print(*output.output);
    } else {
        printer_.note(fmt::format("[{} bytes of output were not shown]", output.skipped_bytes.value_or(0)));
    }
}

void TerminalClient::on_progress(const std::string& text) {
    if (terminal_) {
        printer_.show_status(text, terminal_->columns());
    }
}

void TerminalClient::on_approval_requested(const protocol::Approval& approval) {
    if (prompts_) {
        prompts_->add(std::make_shared<ApprovalPrompt>(approval, sidecar_.responder(), *prompts_));
    } else {
        non_interactive_.requested(approval, sidecar_);
    }
}

void TerminalClient::on_approval_resolved(const protocol::ApprovalResolvedParams& resolved) {
    if (prompts_) {
        prompts_->withdraw(ApprovalPrompt::prompt_id(resolved.approval_id));
    }
}

// The sidecar asks only clients with this capability, which needs the terminal.
void TerminalClient::on_elicitation_requested(const protocol::Elicitation& elicitation) {
    prompts_->add(std::make_shared<ElicitationPrompt>(elicitation, sidecar_, *prompts_));
}

void TerminalClient::on_elicitation_resolved(const protocol::ElicitationResolvedParams& resolved) {
    prompts_->withdraw(ElicitationPrompt::prompt_id(resolved.elicitation_id));
}

Task<protocol::InputRequestResult> TerminalClient::on_input_request(protocol::InputRequestParams params) {
    // The sidecar asks only clients with this capability, which needs the terminal.
    const Mutex::Lock turn = co_await terminal_->turn();
    // A mark on each line: output of the code above may imitate a prompt.
    std::string question = "[the code asks] ";
    for (const char c : terminal_text(params.prompt, false)) {
        question += c == '\n' ? "\n[the code asks] " : std::string(1, c);
    }
    std::optional<std::string> answer = co_await terminal_->ask(std::move(question), params.password);
    if (!answer) {
        throw Error(ErrorCode::internal_error, "the terminal has ended");
    }
    co_return protocol::InputRequestResult{std::move(*answer)};
}

namespace {

std::unique_ptr<TerminalClient> make_client(async::Loop* loop, service::SidecarOptions options) {
    try {
        return std::make_unique<TerminalClient>(*loop, std::move(options));
    } catch (const Error& error) {
        rethrow_of_typed_rule(error); // of --allow
    }
}

using Rules = std::vector<protocol::RuleSpec>;

bool names_a_tool(const protocol::RuleSpec& rule) {
    return rule.server && rule.tool;
}

// Of the command line's rules, which tools are not there, at servers that ran by now.
Task<void> remark_missing_tools(TerminalClient* client, const Rules* rules) {
    if (std::none_of(rules->begin(), rules->end(), names_a_tool)) {
        co_return;
    }
    const Empty nothing;
    protocol::ToolServersListResult known;
    try {
        known = co_await client->sidecar().call<protocol::ToolServersList>(nothing);
    } catch (const Error&) {
        co_return; // the sidecar has ended, of which `body` told
    }
    for (const protocol::RuleSpec& rule : *rules) {
        const bool has_run = std::any_of(known.servers.begin(), known.servers.end(), [&rule](const auto& server) {
            return server.name == rule.server && server.tools.has_value();
        });
        if (!has_run || !names_a_tool(rule)) {
            continue;
        }
        if (const std::string remark = tool_remark(known.servers, true, *rule.server, rule.tool); !remark.empty()) {
            client->printer().note("cellgate: --allow: " + remark);
        }
    }
}

Task<void> start_and_run(TerminalClient* client, std::function<Task<void>(TerminalClient&)> body, const Rules* rules) {
    co_await client->sidecar().start();
    co_await finally(body(*client), remark_missing_tools(client, rules));
}

} // namespace

service::SidecarOptions options_of(const std::string& workspace) {
    service::SidecarOptions options;
    options.workspace = workspace;
    options.environment = process_environment();
    return options;
}

Task<void> with_terminal_client(async::Loop* loop, service::SidecarOptions options,
                                std::function<Task<void>(TerminalClient&)> body) {
    const Rules rules = options.rules;
    const std::unique_ptr<TerminalClient> client = make_client(loop, std::move(options));
    try {
        co_await finally(start_and_run(client.get(), std::move(body), &rules), client->close());
    } catch (Error& problem) {
        if (const std::string advice = client->advice(); !advice.empty()) {
            problem.hint += (problem.hint.empty() ? "" : "\n  ") + advice;
        }
        throw;
    }
    if (const std::string advice = client->advice(); !advice.empty()) {
        client->printer().note(advice);
    }
}

} // namespace cellgate::cli
