#include "mcp/server.hpp"

#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "base/sync.hpp"
#include "mcp/content.hpp"
#include "server_call.hpp"
#include "server_wire.hpp"
#include "wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace cellgate::mcp {

namespace {

using namespace std::chrono_literals;

// How long to wait for a client's answer to a question.
constexpr Duration answer_patience = 10min;
constexpr std::size_t max_suspended = 64; // further questions are answered no
// Limits our answers to a client that never reads.
constexpr std::size_t max_unread_results = std::size_t{64} << 20;
// A call that takes longer becomes a task, if its client supports that.
constexpr Duration task_after = 5s;
constexpr std::string_view legacy_tasks = R"({"list":{},"cancel":{},"requests":{"tools":{"call":{}}}})";

Error invalid(std::string message) {
    return Error(ErrorCode::invalid_params, std::move(message));
}

std::string in_words(const Error& error) {
    return error.hint.empty() ? error.message : fmt::format("{}\n{}", error.message, error.hint);
}

Task<RawJson> at_once(RawJson result) {
    co_return result;
}

} // namespace

Server::Server(std::shared_ptr<protocol::Connection> connection, ServerDescription description, std::vector<Tool> tools,
               Clock& clock)
    : peer_(std::move(connection), protocol::Dialect::mcp), description_(std::move(description)),
      tools_(std::move(tools)), clock_(clock) {
    peer_.on_request<RawInitialize>([this](RawJson params) { return at_once(initialize(params)); });
    peer_.on_request<RawDiscover>([this](RawJson params) { return at_once(discover(params)); });
    peer_.on_request<RawList>([this](RawJson params) { return at_once(list_tools(params)); });
    peer_.on_raw_request("tools/call", [this](RawJson params, std::string beside) {
        return call_tool(std::move(params), std::move(beside));
    });
    add_task_requests();
    if (!description_.resources.empty()) {
        add_resource_requests();
    }
    peer_.on_request<Ping>([](Empty) -> Task<Empty> { co_return Empty{}; });
    peer_.set_admission([this](const std::string&, const RawJson&) {
        if (peer_.connection().queued_bytes() > max_unread_results) {
            peer_.close();
            throw Error(ErrorCode::limit_exceeded, "the client sends requests and does not read the answers");
        }
    });
}

Server::~Server() = default;

Task<void> Server::run() {
    co_await finally(peer_.run(), end_tasks());
}

Task<void> Server::end_tasks() {
    tasks_.cancel();
    co_await tasks_.join();
}

// ---- Which era ------------------------------------------------------------------------------------------------------

Server::Caller Server::caller_of(const RawJson& params) const {
    const RequestMeta meta = from_json<OnlyMeta>(params, "params").meta.value_or(RequestMeta{});
    Caller caller;
    if (meta.protocol_version) {
        if (*meta.protocol_version != modern_version) {
            throw unsupported_version(*meta.protocol_version);
        }
        if (!meta.client_capabilities) {
            throw invalid("params._meta: expected io.modelcontextprotocol/clientCapabilities");
        }
        caller.era = Era::modern;
        caller.client = read_client_info(meta.client_info.value_or(RawJson()));
        caller.takes_forms = takes_forms(*meta.client_capabilities);
        caller.takes_tasks = takes_tasks(*meta.client_capabilities);
    } else if (legacy_) {
        caller = *legacy_;
    } else {
        throw invalid("expected initialize first, or io.modelcontextprotocol/protocolVersion in params._meta");
    }
    const bool has_token =
        meta.progress_token && (meta.progress_token->type() == "string" || meta.progress_token->type() == "number");
    caller.progress_token = has_token ? meta.progress_token : std::nullopt;
    return caller;
}

RawJson Server::initialize(const RawJson& params) {
    if (legacy_) {
        throw Error(ErrorCode::invalid_request, "expected initialize once, found it again");
    }
    const auto request = from_json<InitializeRequest>(params, "params");
    Caller caller;
    caller.client = read_client_info(request.client_info);
    caller.takes_forms = takes_forms(request.capabilities);
    InitializeAnswer answer;
    // An unknown version is answered with a known one; the client decides.
    answer.protocol_version =
        is_legacy_version(request.protocol_version) ? request.protocol_version : std::string(legacy_versions.front());
    caller.takes_tasks = answer.protocol_version == legacy_version_with_tasks;
    const std::string tasks = caller.takes_tasks ? fmt::format(R"(,"tasks":{})", legacy_tasks) : "";
    answer.capabilities = RawJson::checked(fmt::format("{{{}{}}}", offered_capabilities(), tasks));
    legacy_ = std::make_shared<const Caller>(std::move(caller));
    answer.server_info = description_.ourselves;
    answer.instructions = description_.instructions;
    return to_raw_json(answer);
}

std::string_view Server::offered_capabilities() const {
    return description_.resources.empty() ? R"("tools":{})" : R"("tools":{},"resources":{})";
}

RawJson Server::discover(const RawJson& params) const {
    const RequestMeta meta = from_json<OnlyMeta>(params, "params").meta.value_or(RequestMeta{});
    if (meta.protocol_version) {
        caller_of(params); // throws when it is another version
    }
    std::string members = fmt::format(R"("supportedVersions":["{}"],)"
                                      R"("capabilities":{{{},"extensions":{{"{}":{{}}}}}},"instructions":)",
                                      modern_version, offered_capabilities(), tasks_extension);
    append_json_string(members, description_.instructions);
    members += fmt::format(R"(,"_meta":{{"io.modelcontextprotocol/serverInfo":{}}})", to_json(description_.ourselves));
    return cacheable(Era::modern, members);
}

// ---- Tools ----------------------------------------------------------------------------------------------------------

RawJson Server::list_tools(const RawJson& params) const {
    const Caller caller = caller_of(params);
    if (from_json<ListRequest>(params, "params").cursor) {
        throw invalid("params.cursor: expected none, since all tools are on the first page");
    }
    std::string list;
    const bool as_task = caller.era == Era::legacy && caller.takes_tasks;
    for (const Tool& tool : tools_) {
        const RawJson spec = to_raw_json(tool.spec);
        list += list.empty() ? "" : ",";
        list += as_task ? with_members(R"("execution":{"taskSupport":"optional"})", spec).text() : spec.text();
    }
    return cacheable(caller.era, fmt::format(R"("tools":[{}])", list));
}

Task<RawJson> Server::call_tool(RawJson params, std::string beside) {
    Caller caller = caller_of(params);
    caller.beside = std::move(beside);
    const auto request = from_json<CallRequest>(params, "params");
    const std::shared_ptr<Call> call = request.request_state ? resume(params, std::move(caller), *request.request_state)
                                                             : start(params, std::move(caller));
    if (call->task && call->caller.era == Era::legacy) {
        co_return created_task(*call);
    }
    std::exception_ptr cancelled;
    try {
        co_return co_await follow(call);
    } catch (const Cancelled&) {
        cancelled = std::current_exception();
    }
    call->cancel->cancel();
    co_await shielded(end_of(call));
    std::rethrow_exception(cancelled);
}

Task<void> Server::end_of(std::shared_ptr<Call> call) {
    const auto has_ended = [&call] { return call->ended; };
    co_await call->moved.until(has_ended);
}

std::shared_ptr<Server::Call> Server::start(const RawJson& params, Caller caller) {
    const auto request = from_json<CallRequest>(params, "params");
    const auto tool =
        std::find_if(tools_.begin(), tools_.end(), [&](const Tool& each) { return each.spec.name == request.name; });
    if (tool == tools_.end()) {
        throw invalid(fmt::format("there is no tool \"{}\"", escape_unprintable(request.name.substr(0, 100))));
    }
    RawJson arguments = request.arguments.value_or(RawJson::checked("{}"));
    auto call = std::make_shared<Call>(*this, std::move(caller), params);
    const bool as_task = request.task && call->caller.era == Era::legacy && call->caller.takes_tasks;
    if (as_task && !make_task(call)) {
        throw Error(ErrorCode::limit_exceeded, "too many tasks run: cancel one, or wait for one to end");
    }
    call->cancel = tasks_.spawn(run_tool(call, &*tool, std::move(arguments)));
    return call;
}

Task<void> Server::run_tool(std::shared_ptr<Call> call, const Tool* tool, RawJson arguments) {
    try {
        call->result = co_await tool->handler(std::move(arguments), call);
    } catch (const Cancelled&) {
        call->error = std::current_exception();
    } catch (const Error& error) {
        call->result = error_result(in_words(error));
    } catch (const std::exception& error) {
        log_error("the tool {} failed: {}", tool->spec.name, error.what());
        call->result = error_result(error.what());
    }
    call->ended = true;
    call->changed();
}

Task<void> Server::end_patience(std::shared_ptr<Call> call) {
    co_await sleep_for(clock_, task_after);
    call->patience_ended = true;
    call->moved.notify();
}

Task<RawJson> Server::follow(std::shared_ptr<Call> call) {
    call->patience_ended = false;
    TaskScope patience;
    if (call->caller.takes_tasks && call->caller.era == Era::modern) {
        patience.spawn(end_patience(call));
    }
    co_return co_await finally(answer_of(std::move(call)), cancel_and_join(patience));
}

Task<RawJson> Server::answer_of(std::shared_ptr<Call> call) {
    const auto has_moved = [&call] { return call->ended || !call->elicitations.empty() || call->patience_ended; };
    co_await call->moved.until(has_moved);
    while (!call->ended) {
        if (call->elicitations.empty()) {
            call->patience_ended = false;
            if (make_task(call)) {
                co_return created_task(*call);
            }
            co_await call->moved.until(has_moved);
            continue;
        }
        if (suspended_.size() < max_suspended) {
            co_return suspend(std::move(call));
        }
        call->answer(call->elicitations.front(), Consent::cancelled);
        co_await call->moved.until(has_moved);
    }
    if (call->error) {
        std::rethrow_exception(call->error);
    }
    co_return completed(call->caller.era, to_raw_json(*call->result));
}

// ---- Questions of the modern era ------------------------------------------------------------------------------------

// The call goes on; the client comes back to it with the answer.
RawJson Server::suspend(std::shared_ptr<Call> call) {
    const std::string state = random_id();
    const std::shared_ptr<Elicitation> shown = call->elicitations.front();
    std::string result = R"({"resultType":"input_required","inputRequests":{")";
    result += consent_key;
    result += R"(":{"method":"elicitation/create","params":)" + consent_params(shown->question).text();
    result += R"(}},"requestState":")" + state + R"("})";
    call->caller.progress_token.reset();
    suspended_[state] = Suspended{std::move(call), shown};
    tasks_.spawn(expire(state));
    return RawJson::checked(result);
}

Task<void> Server::expire(std::string state) {
    co_await sleep_for(clock_, answer_patience);
    if (const auto entry = suspended_.find(state); entry != suspended_.end()) {
        const std::shared_ptr<Call> call = entry->second.call;
        suspended_.erase(entry);
        call->cancel->cancel();
    }
}

std::shared_ptr<Server::Call> Server::resume(const RawJson& params, Caller caller, const std::string& state) {
    const auto request = from_json<CallRequest>(params, "params");
    const auto entry = suspended_.find(state);
    if (entry == suspended_.end()) {
        throw invalid("params.requestState: expected one that waits for an answer; each counts once");
    }
    const std::shared_ptr<Call> call = entry->second.call;
    const std::shared_ptr<Elicitation> shown = entry->second.shown;
    const auto first = from_json<CallRequest>(call->params, "params");
    if (first.name != request.name || first.arguments != request.arguments) {
        throw invalid("params: expected the tool and the arguments that the question was about");
    }
    suspended_.erase(entry);
    call->caller = std::move(caller);
    // The call may have continued without it, and ask another question by now. Without an answer the question is
    // repeated.
    if (call->is_asking(shown) && request.input_responses) {
        const auto responses = from_json<InputResponses>(*request.input_responses, "params.inputResponses");
        if (responses.consent) {
            call->answer(shown, consent_of(*responses.consent, shown->question));
        }
    }
    return call;
}

} // namespace cellgate::mcp
