#include "mcp/server.hpp"

#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "base/sync.hpp"
#include "mcp/content.hpp"
#include "server_wire.hpp"
#include "wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>

namespace cellgate::mcp {

namespace {

using namespace std::chrono_literals;

// How long to wait for a client's answer to a question.
constexpr Duration answer_patience = 10min;
constexpr std::size_t max_suspended = 64; // further questions are answered no
// Limits our answers to a client that never reads.
constexpr std::size_t max_unread_results = std::size_t{64} << 20;
constexpr std::size_t max_report_bytes = 500;
constexpr std::string_view list_freshness = R"(,"ttlMs":3600000,"cacheScope":"private")";

Error invalid(std::string message) {
    return Error(ErrorCode::invalid_params, std::move(message));
}

// An object with these members before its own.
RawJson with_members(std::string_view members, const RawJson& object) {
    const bool empty = json_members(object.text()).empty();
    return RawJson::checked(fmt::format("{{{}{}{}", members, empty ? "" : ",", object.text().substr(1)));
}

RawJson completed(Era era, const RawJson& result) {
    return era == Era::legacy ? result : with_members(R"("resultType":"complete")", result);
}

std::string in_words(const Error& error) {
    return error.hint.empty() ? error.message : fmt::format("{}\n{}", error.message, error.hint);
}

Task<RawJson> at_once(RawJson result) {
    co_return result;
}

} // namespace

// The caller of a request, and its era.
struct Server::Caller {
    Era era = Era::legacy;
    Implementation client;
    bool takes_forms = false;
    std::optional<RawJson> progress_token;
    std::string beside; // its request
};

struct Server::Elicitation {
    ConsentRequest question;
    Deferred<Consent> answer;
};

// A call and its result. In the modern era it outlives its request when it asks a question.
struct Server::Call final : ToolCall {
    Call(Server& server_, Caller caller_, RawJson params_)
        : server(server_), caller(std::move(caller_)), params(std::move(params_)) {}

    const Implementation& client() const override { return caller.client; }
    bool can_ask() const override { return caller.takes_forms; }

    void report(std::string message) override {
        if (!caller.progress_token || ended) {
            return;
        }
        std::string progress = R"({"progressToken":)" + caller.progress_token->text() +
                               fmt::format(R"(,"progress":{},"message":)", ++reports);
        append_json_string(progress, std::string_view(message).substr(0, max_report_bytes));
        server.before_message_(caller.beside);
        server.peer_.notify_raw("notifications/progress", RawJson::checked(progress + "}"));
    }

    Task<Consent> ask(ConsentRequest question) override {
        if (caller.era == Era::legacy) {
            RawJson form = consent_params(question);
            server.before_message_(caller.beside);
            const RawJson answer = co_await server.peer_.call_raw("elicitation/create", std::move(form));
            co_return consent_of(answer, question);
        }
        const auto asked = std::make_shared<Elicitation>();
        asked->question = std::move(question);
        elicitations.push_back(asked);
        moved.notify();
        co_return co_await finally(asked->answer.get(), withdraw(asked));
    }
    Task<void> withdraw(std::shared_ptr<Elicitation> asked) {
        std::erase(elicitations, asked);
        co_return;
    }

    Server& server;
    Caller caller;        // of the present request
    const RawJson params; // of the first one
    int reports = 0;
    std::deque<std::shared_ptr<Elicitation>> elicitations;
    std::shared_ptr<CancelState> cancel;
    std::optional<protocol::CallToolResult> result;
    std::exception_ptr error;
    bool ended = false;
    Condition moved; // has ended, or has a question
};

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
    legacy_ = std::make_shared<const Caller>(std::move(caller));
    InitializeAnswer answer;
    // An unknown version is answered with a known one; the client decides.
    answer.protocol_version =
        is_legacy_version(request.protocol_version) ? request.protocol_version : std::string(legacy_versions.front());
    answer.server_info = description_.ourselves;
    answer.instructions = description_.instructions;
    return to_raw_json(answer);
}

RawJson Server::discover(const RawJson& params) const {
    const RequestMeta meta = from_json<OnlyMeta>(params, "params").meta.value_or(RequestMeta{});
    if (meta.protocol_version) {
        caller_of(params); // throws when it is another version
    }
    std::string result = fmt::format(R"({{"resultType":"complete","supportedVersions":["{}"],)"
                                     R"("capabilities":{{"tools":{{}}}},"instructions":)",
                                     modern_version);
    append_json_string(result, description_.instructions);
    result += fmt::format(R"(,"_meta":{{"io.modelcontextprotocol/serverInfo":{}}}{}}})",
                          to_json(description_.ourselves), list_freshness);
    return RawJson::checked(result);
}

// ---- Tools ----------------------------------------------------------------------------------------------------------

RawJson Server::list_tools(const RawJson& params) const {
    const Caller caller = caller_of(params);
    if (from_json<ListRequest>(params, "params").cursor) {
        throw invalid("params.cursor: expected none, since all tools are on the first page");
    }
    std::vector<protocol::ToolSpec> specs;
    for (const Tool& tool : tools_) {
        specs.push_back(tool.spec);
    }
    const std::string_view freshness = caller.era == Era::modern ? list_freshness : std::string_view();
    return completed(caller.era, RawJson::checked(fmt::format(R"({{"tools":{}{}}})", to_json(specs), freshness)));
}

Task<RawJson> Server::call_tool(RawJson params, std::string beside) {
    Caller caller = caller_of(params);
    caller.beside = std::move(beside);
    const std::optional<std::string> state = from_json<CallRequest>(params, "params").request_state;
    const std::shared_ptr<Call> call =
        state ? resume(params, std::move(caller), *state) : start(params, std::move(caller));
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
    call->moved.notify();
}

Task<RawJson> Server::follow(std::shared_ptr<Call> call) {
    const auto has_moved = [&call] { return call->ended || !call->elicitations.empty(); };
    co_await call->moved.until(has_moved);
    while (!call->ended) {
        if (suspended_.size() < max_suspended) {
            co_return suspend(std::move(call));
        }
        call->elicitations.front()->answer.resolve(Consent::cancelled);
        call->elicitations.pop_front();
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
    const auto asked = std::find(call->elicitations.begin(), call->elicitations.end(), shown);
    if (asked != call->elicitations.end() && request.input_responses) {
        const auto responses = from_json<InputResponses>(*request.input_responses, "params.inputResponses");
        if (responses.consent) {
            call->elicitations.erase(asked);
            shown->answer.resolve(consent_of(*responses.consent, shown->question));
        }
    }
    return call;
}

} // namespace cellgate::mcp
