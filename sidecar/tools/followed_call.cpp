#include "followed_call.hpp"

#include "elicitation_form.hpp"
#include "elicitation_page.hpp"
#include "server_errors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_message = 8000;
constexpr std::size_t max_origin = 400;

mcp::ElicitationAction action_of(protocol::ElicitationAction action) {
    switch (action) {
    case protocol::ElicitationAction::accept:
        return mcp::ElicitationAction::accept;
    case protocol::ElicitationAction::decline:
        return mcp::ElicitationAction::decline;
    case protocol::ElicitationAction::cancel:
        break;
    }
    return mcp::ElicitationAction::cancel;
}

} // namespace

FollowedCall::FollowedCall(Clock& clock, Elicitor* elicitor, CallContext context, std::string server, std::string tool)
    : elicitor_(elicitor), context_(std::move(context)), server_(std::move(server)), tool_(std::move(tool)) {
    reports_.emplace(clock, context_.on_progress, server_, tool_);
}

void FollowedCall::on_progress(const mcp::CallProgress& progress) {
    if (reports_) {
        reports_->report(progress);
    }
}

void FollowedCall::on_not_asked(const std::string& why) {
    if (std::find(declined_.begin(), declined_.end(), why) == declined_.end()) {
        declined_.push_back(why);
    }
}

protocol::Elicitation FollowedCall::question_of(const mcp::ElicitationQuestion& asked) const {
    protocol::Elicitation question;
    question.server = server_;
    question.tool = tool_;
    question.session_id = context_.session_id;
    question.execution_id = context_.execution_id;
    if (context_.agent) {
        question.agent = context_.agent->name;
    }
    question.origin = context_.origin;
    if (question.origin) {
        question.origin->text = shortened(question.origin->text, max_origin);
    }
    question.message = shortened(asked.message, max_message, true);
    return question;
}

Task<mcp::ElicitationAnswer> FollowedCall::ask(mcp::ElicitationQuestion asked) {
    protocol::Elicitation question = question_of(asked);
    std::shared_ptr<const ElicitationForm> form;
    if (asked.url) {
        question.mode = protocol::ElicitationMode::url;
        question.host = host_of_page(*asked.url);
        question.url = *asked.url;
    } else {
        form = std::make_shared<ElicitationForm>(asked.requested_schema);
        question.fields = form->fields();
    }
    mcp::ElicitationAnswer answer;
    if (const std::optional<std::string> secret = form ? form->secret() : std::nullopt) {
        on_not_asked(
            fmt::format("the tool server {} asked for a secret in a form ({}), which MCP does not allow: it was "
                        "declined",
                        in_quotes(server_), *secret));
        co_return answer;
    }
    if (elicitor_ == nullptr || !elicitor_->can_ask()) {
        on_not_asked(fmt::format("the tool server {} asked the user a question, and no editor or terminal was there to "
                                 "answer it: it was declined",
                                 in_quotes(server_)));
        co_return answer;
    }
    if (reports_) {
        reports_->note("waits for the user's answer to its question");
    }
    ValuesCheck check = [form](const std::optional<RawJson>& values) {
        return form ? form->content(values) : RawJson();
    };
    const ElicitationReply reply = co_await elicitor_->elicit(std::move(question), std::move(check));
    if (reports_) {
        reports_->note(std::nullopt);
    }
    answer.action = action_of(reply.action);
    if (form && answer.action == mcp::ElicitationAction::accept) {
        answer.content = reply.content;
    }
    co_return answer;
}

} // namespace cellgate::tools
