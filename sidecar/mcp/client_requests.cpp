// What a server of the legacy era asks of the client while calls run.

#include "base/escape_unprintable.hpp"
#include "elicitation_wire.hpp"
#include "mcp/client.hpp"
#include "running_call.hpp"
#include "wire.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_log_text = 4096; // of one message

Task<RawJson> refuse_sampling(RawJson, std::string) {
    throw Error(ErrorCode::method_not_found, "cellgate has no model: it answers no sampling/createMessage");
    co_return RawJson();
}

Task<RawJson> answer_roots(RawJson roots) {
    co_return roots;
}

} // namespace

void Client::take_requests() {
    peer_.on_raw_request("elicitation/create", [this](RawJson params, std::string beside) {
        return answer_question(std::move(params), std::move(beside));
    });
    peer_.on_raw_request("sampling/createMessage", refuse_sampling);
    peer_.on_raw_request("roots/list", [this](const RawJson&, const std::string&) {
        return answer_roots(roots_result(surroundings_ ? surroundings_->folder : std::string()));
    });
    peer_.on_notification<LogMessage>([this](const LogMessageParams& params) { on_log(params); });
    peer_.on_notification<ElicitationComplete>([this](const ElicitationCompleteParams& params) {
        for (const std::shared_ptr<RunningCall>& call : running_) {
            call->on_page_complete(params.elicitation_id);
        }
    });
}

std::shared_ptr<RunningCall> Client::call_of(const std::string& request_id) const {
    const auto found = std::find_if(running_.begin(), running_.end(), [&](const std::shared_ptr<RunningCall>& each) {
        return !request_id.empty() && each->request_id == request_id;
    });
    if (found != running_.end()) {
        return *found;
    }
    return running_.empty() ? nullptr : running_.back();
}

Task<RawJson> Client::answer_question(RawJson params, std::string beside) {
    std::shared_ptr<RunningCall> call = call_of(beside);
    if (!call) {
        co_return answer_result({}); // no call is there that it could be for
    }
    co_return co_await RunningCall::ask(std::move(call), std::move(params));
}

void Client::on_log(const LogMessageParams& params) {
    if (!surroundings_ || !surroundings_->on_log) {
        return;
    }
    const std::string text =
        params.data.type() == "string" ? decode_json_string(params.data.text()) : params.data.text();
    surroundings_->on_log(fmt::format("{}{}{}: {}", escape_unprintable(params.level.substr(0, 20)),
                                      params.logger ? " " : "",
                                      escape_unprintable(params.logger.value_or("").substr(0, 100)),
                                      escape_unprintable(text.substr(0, max_log_text), true)));
}

} // namespace cellgate::mcp
