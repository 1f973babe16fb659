// A call of a tool, and the reading of a resource or a prompt: it is sent again, the same bytes under another id, as
// long as the server asks for more input first.

#include "base/sync.hpp"
#include "elicitation_wire.hpp"
#include "failed.hpp"
#include "mcp/client.hpp"
#include "mcp/content.hpp"
#include "remote_error_text.hpp"
#include "running_call.hpp"
#include "task_wire.hpp"
#include "wire.hpp"

#include <fmt/format.h>

namespace cellgate::mcp {

namespace {

constexpr int max_rounds = 16;

std::string named(std::string_view member, const std::string& text, const RawJson* arguments = nullptr) {
    std::string members = fmt::format(R"("{}":)", member);
    append_json_string(members, text);
    if (arguments != nullptr) {
        members += R"(,"arguments":)" + arguments->text();
    }
    return members;
}

} // namespace

Task<protocol::CallToolResult> Client::call_tool(std::string tool, RawJson arguments,
                                                 std::shared_ptr<CallFollower> follower) {
    std::string members = named("name", tool, &arguments);
    if (tasks_only_.contains(tool)) {
        members += R"(,"task":{})";
    }
    return call({"tools/call", std::move(members), read_call_result}, std::move(follower));
}

Task<protocol::CallToolResult> Client::read_resource(std::string uri, std::shared_ptr<CallFollower> follower) {
    return call({"resources/read", named("uri", uri), read_resource_contents}, std::move(follower));
}

Task<protocol::CallToolResult> Client::get_prompt(std::string name, RawJson arguments,
                                                  std::shared_ptr<CallFollower> follower) {
    return call({"prompts/get", named("name", name, &arguments), read_prompt_messages}, std::move(follower));
}

Task<protocol::CallToolResult> Client::call(CallRequest request, std::shared_ptr<CallFollower> follower) {
    const auto call = std::make_shared<RunningCall>(std::move(follower));
    running_.push_back(call);
    co_return co_await finally(call_until_done(call, std::move(request)), end_call(call));
}

Task<void> Client::end_call(std::shared_ptr<RunningCall> call) {
    std::erase(running_, call);
    std::erase_if(in_progress_, [&call](const auto& each) { return each.second == call; });
    co_await call->end();
}

Task<protocol::CallToolResult> Client::call_until_done(std::shared_ptr<RunningCall> call, CallRequest request) {
    std::string about; // the call, in its `_meta`
    if (call->wants_progress()) {
        const std::uint64_t token = next_progress_token_++;
        in_progress_[token] = call;
        about = fmt::format(R"("progressToken":{})", token);
    }
    if (const std::string parent = call->trace_parent(); !parent.empty()) {
        about += fmt::format(R"({}"traceparent":"{}")", about.empty() ? "" : ",", parent);
    }
    std::string more;
    bool pages_visited = false;
    for (int round = 0; round < max_rounds; ++round) {
        RawJson params = RawJson::checked("{" + request.members + more + meta(",", about) + "}");
        RawJson result;
        std::optional<protocol::RemoteError> refusal;
        try {
            result = co_await send_call(call, request.method, std::move(params));
        } catch (const protocol::RemoteError& remote) {
            refusal = remote;
        }
        if (refusal) {
            if (static_cast<int>(refusal->code) != url_elicitation_required || std::exchange(pages_visited, true)) {
                co_return error_result(remote_error_text(*refusal));
            }
            bool visited = false;
            try {
                visited = co_await RunningCall::ask_for_pages(call, refusal->data);
            } catch (const Cancelled&) {
                throw;
            } catch (const Error&) {
                // The server's own words say what it wants.
            }
            if (!visited) {
                co_return error_result(remote_error_text(*refusal));
            }
            continue;
        }
        require_small(result);
        std::optional<InputRequired> asked = read_answer(
            request.method, [&] { return era_ == Era::modern ? read_input_required(result) : std::nullopt; });
        if (asked) {
            more = co_await answers_to(call, std::move(*asked));
            continue;
        }
        std::optional<ServerTask> task = read_answer(request.method, [&] {
            return request.method == "tools/call" ? read_created_task(era_, result) : std::nullopt;
        });
        if (task) {
            co_return co_await finish_task(call, std::move(request), std::move(*task));
        }
        const RawJson completed = complete(result, request.method);
        co_return read_answer(request.method, [&] { return request.read(completed); });
    }
    throw failed(fmt::format("the tool asked for more input {} times", max_rounds));
}

Task<RawJson> Client::send_call(std::shared_ptr<RunningCall> call, std::string method, RawJson params) {
    std::exception_ptr error;
    try {
        co_return co_await peer_.call_raw(method, std::move(params), &call->request_id);
    } catch (const protocol::RemoteError&) {
        throw;
    } catch (const Error&) {
        error = std::current_exception();
    }
    rethrow(error, method);
}

Task<std::string> Client::answers_to(std::shared_ptr<RunningCall> call, InputRequired asked) {
    std::string responses;
    for (auto& [key, request] : asked.requests) {
        RawJson answer;
        if (request.method == "elicitation/create") {
            std::string problem;
            try {
                answer = co_await RunningCall::ask(call, std::move(request.params));
            } catch (const Cancelled&) {
                throw;
            } catch (const Error& error) {
                problem = error.message;
            }
            if (!problem.empty()) {
                throw failed("the tool asks the user what cannot be shown: " + problem);
            }
        } else if (request.method == "roots/list") {
            answer = roots_result(surroundings_ ? surroundings_->folder : std::string());
        } else if (request.method == "sampling/createMessage") {
            throw failed("the tool asks for a model's answer, and cellgate has no model");
        } else {
            throw failed("the tool asks for input of a kind that there is not");
        }
        responses += responses.empty() ? "{" : ",";
        append_json_string(responses, key);
        responses += ":" + answer.text();
    }
    std::string more;
    if (!asked.requests.empty()) {
        more = R"(,"inputResponses":)" + responses + "}";
    }
    if (asked.request_state) {
        more += R"(,"requestState":)" + asked.request_state->text();
    }
    co_return more;
}

} // namespace cellgate::mcp
