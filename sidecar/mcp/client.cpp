#include "mcp/client.hpp"

#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/sync.hpp"
#include "elicitation_wire.hpp"
#include "failed.hpp"
#include "list_pages.hpp"
#include "remote_error_text.hpp"
#include "running_call.hpp"
#include "task_wire.hpp"
#include "wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

namespace cellgate::mcp {

namespace {

using namespace std::chrono_literals;

// A legacy server may leave a method that it does not know unanswered.
constexpr Duration probe_timeout = 5s;
// Limits our answers to a server that sends requests and never reads.
constexpr std::size_t max_unread_answers = std::size_t{32} << 20;

Task<Empty> answer_ping(Empty) {
    co_return Empty{};
}

std::string join(const std::vector<std::string>& versions) {
    std::string text;
    for (const std::string& version : versions) {
        text += (text.empty() ? "" : ", ") + escape_unprintable(version.substr(0, 40));
    }
    return text.substr(0, 400);
}

bool contains(const std::vector<std::string>& versions, std::string_view version) {
    return std::find(versions.begin(), versions.end(), version) != versions.end();
}

// Those that a server names that speaks none of ours; nothing if it names none.
std::optional<std::vector<std::string>> versions_of(const RawJson& data) {
    try {
        return from_json<UnsupportedVersionData>(data, "data").supported;
    } catch (const Error&) {
        return std::nullopt;
    }
}

// Whether to use the modern era or the legacy one. Throws when neither fits.
bool choose_modern(const std::vector<std::string>& versions) {
    if (contains(versions, modern_version)) {
        return true;
    }
    if (std::any_of(versions.begin(), versions.end(), is_legacy_version)) {
        return false;
    }
    throw failed(fmt::format("expected a server that speaks MCP {} or {} to {}, found one that speaks {}",
                             modern_version, legacy_versions.back(), legacy_versions.front(), join(versions)));
}

bool wants_login(const std::exception_ptr& error) {
    if (!error) {
        return false;
    }
    try {
        std::rethrow_exception(error);
    } catch (const Error& problem) {
        return problem.code == ErrorCode::login_required;
    }
}

ToolList read_tools(const std::vector<RawJson>& items) {
    ToolList list;
    std::set<std::string> names;
    for (std::size_t i = 0; i < items.size(); ++i) {
        try {
            protocol::ToolSpec spec = read_tool(items[i]);
            if (!names.insert(spec.name).second) {
                throw failed("the server has two tools of this name; the first one counts");
            }
            list.tools.push_back(std::move(spec));
        } catch (const Error& error) {
            list.skipped.push_back({name_of(items[i], i), error.message});
        }
    }
    return list;
}

} // namespace

struct Client::Reply {
    Event done;
    RawJson result;
    std::exception_ptr error;
};

Client::Client(std::shared_ptr<protocol::Connection> connection, Implementation ourselves, Clock& clock,
               std::shared_ptr<const ClientSurroundings> surroundings)
    : peer_(std::move(connection), protocol::Dialect::mcp), ourselves_(std::move(ourselves)), clock_(clock),
      surroundings_(std::move(surroundings)) {
    peer_.on_request<Ping>(answer_ping);
    peer_.on_notification<ToolsListChanged>([this](Empty) { tools_changed_ = true; });
    peer_.on_notification<ResourcesListChanged>([this](Empty) { tools_changed_ = true; });
    peer_.on_notification<PromptsListChanged>([this](Empty) { tools_changed_ = true; });
    peer_.on_notification<ResourceUpdated>(
        [this](const ResourceUpdatedParams& params) { on_resource_updated(params.uri); });
    peer_.on_notification<ProgressNotification>([this](const ProgressParams& params) { on_progress(params); });
    take_requests();
    peer_.set_on_invalid([this](const protocol::Frame& frame, const Error& why) { on_malformed_message(frame, why); });
    peer_.set_admission([this](const std::string&, const RawJson&) {
        if (peer_.connection().queued_bytes() > max_unread_answers) {
            abort_connection("it sends requests and does not read the answers");
            throw failed(broken_because_);
        }
    });
}

Task<std::shared_ptr<Client>> Client::connect(std::shared_ptr<protocol::Connection> connection,
                                              Implementation ourselves, Clock& clock, Instant deadline,
                                              std::shared_ptr<const ClientSurroundings> surroundings) {
    std::shared_ptr<Client> client(
        new Client(std::move(connection), std::move(ourselves), clock, std::move(surroundings)));
    client->tasks_.spawn(client->run());
    std::exception_ptr error;
    try {
        co_await client->negotiate(deadline);
    } catch (const Error&) {
        error = std::current_exception();
    }
    if (error) {
        co_await shielded(client->close());
        std::rethrow_exception(error);
    }
    co_return client;
}

Task<void> Client::run() {
    try {
        co_await peer_.run();
    } catch (const Cancelled&) {
        // close() ends it so.
    } catch (const Error& error) {
        broken_because_ = error.message;
    }
    ended_.set();
    for (const auto& [uri, subscription] : subscriptions_) {
        subscription->moved.notify();
    }
}

Task<void> Client::closed() {
    co_await ended_.wait();
}

Task<void> Client::close() {
    peer_.close();
    tasks_.cancel();
    co_await tasks_.join();
}

void Client::abort_connection(std::string reason) {
    broken_because_ = std::move(reason);
    peer_.close();
}

void Client::on_malformed_message(const protocol::Frame& frame, const Error& why) {
    ++ignored_messages_;
    if (frame.text.empty()) {
        // It may have been the answer to a pending request.
        abort_connection(why.message);
    } else if (const std::optional<RawJson> id = id_of_broken_answer(frame.text)) {
        peer_.fail_call(id->text(), std::make_exception_ptr(Error(ErrorCode::parse_error, why.message)));
    } else if (ignored_messages_ == 1) {
        log_info("a tool server printed on its stdout something that is not a message: {}",
                 escape_unprintable(frame.text.substr(0, 200)));
    }
}

void Client::on_progress(const ProgressParams& params) {
    const auto call = std::find_if(in_progress_.begin(), in_progress_.end(), [&params](const auto& each) {
        return params.progress_token.text() == std::to_string(each.first);
    });
    if (call != in_progress_.end()) {
        const std::shared_ptr<RunningCall> reported = call->second;
        reported->on_progress({params.progress, params.total, params.message});
    }
}

std::string Client::meta(std::string_view before, const std::string& more) const {
    if (era_ == Era::legacy) {
        return more.empty() ? std::string() : fmt::format(R"({}"_meta":{{{}}})", before, more);
    }
    return fmt::format(R"({}"_meta":{{{}{}"io.modelcontextprotocol/protocolVersion":"{}",)"
                       R"("io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{}}})",
                       before, more, more.empty() ? "" : ",", modern_version, to_json(ourselves_), modern_capabilities);
}

// ---- Which era ------------------------------------------------------------------------------------------------------

Task<void> Client::negotiate(Instant deadline) {
    era_ = Era::modern; // for the meta of the probe
    RawJson params = RawJson::checked("{" + meta("") + "}");
    era_ = Era::legacy;
    const std::shared_ptr<Reply> probe = start_request("server/discover", std::move(params));
    const Instant patience = std::min(deadline, clock_.now() + probe_timeout);
    const bool answered = co_await wait_until(clock_, probe->done, patience);
    if (answered && take_modern(*probe)) {
        co_return;
    }
    co_await initialize(probe, deadline);
}

bool Client::take_modern(const Reply& reply) {
    bool modern = false;
    DiscoverResult found;
    std::optional<std::vector<std::string>> versions;
    try {
        if (reply.error) {
            std::rethrow_exception(reply.error);
        }
        found = from_json<DiscoverResult>(reply.result, "result");
        versions = found.supported_versions;
    } catch (const protocol::RemoteError& error) {
        const int code = static_cast<int>(error.code);
        modern = code == header_mismatch || code == missing_client_capability;
        if (code == unsupported_protocol_version) {
            versions = versions_of(error.data);
        }
    } catch (const Error&) {
        // A server that answers anything to everything, or that does not take such a request: initialize() tells it.
    }
    if (versions) {
        modern = choose_modern(*versions);
    }
    if (modern) {
        era_ = Era::modern;
        version_ = modern_version;
        server_info_ = read_implementation(found.server_info);
        features_ = features_of(found.capabilities);
        subscribe();
    }
    return modern;
}

void Client::subscribe() {
    std::string lists;
    for (const auto& [changes, name] : {std::pair(features_.tools_change, "toolsListChanged"),
                                        std::pair(features_.resources_change, "resourcesListChanged"),
                                        std::pair(features_.prompts_change, "promptsListChanged")}) {
        if (changes) {
            lists += fmt::format(R"({}"{}":true)", lists.empty() ? "" : ",", name);
        }
    }
    if (lists.empty()) {
        return;
    }
    RawJson params = RawJson::checked(fmt::format(R"({{"notifications":{{{}}}{}}})", lists, meta(",")));
    start_request("subscriptions/listen", std::move(params)); // which stays open as long as the server does
}

Task<void> Client::initialize(std::shared_ptr<Reply> probe, Instant deadline) {
    const InitializeParams params{std::string(legacy_versions.front()),
                                  RawJson::checked(std::string(legacy_capabilities)), ourselves_};
    const std::shared_ptr<Reply> reply = start_request("initialize", to_raw_json(params));
    const bool answered = co_await wait_until(clock_, reply->done, deadline);
    // A modern server that was slow to start answers the probe first, and refuses initialize.
    if ((!answered || reply->error) && probe->done.is_set() && take_modern(*probe)) {
        co_return;
    }
    if (!answered) {
        throw failed("the server did not answer initialize in time",
                     "Check that the command is an MCP server on stdio, and that it does not wait for something.");
    }
    if (reply->error) {
        // A server without this method may well have wanted a login for the other one.
        rethrow(wants_login(probe->error) ? probe->error : reply->error, "initialize");
    }
    InitializeResult result;
    try {
        result = from_json<InitializeResult>(reply->result, "result");
    } catch (const Error& error) {
        throw failed("the server's answer to initialize is broken: " + error.message);
    }
    if (!is_legacy_version(result.protocol_version)) {
        throw failed(fmt::format("expected a server that speaks MCP {} to {}, found one that wants \"{}\"",
                                 legacy_versions.back(), legacy_versions.front(),
                                 escape_unprintable(result.protocol_version.substr(0, 40))));
    }
    version_ = result.protocol_version;
    server_info_ = read_implementation(result.server_info);
    features_ = features_of(result.capabilities);
    peer_.notify_raw("notifications/initialized", RawJson::checked("{}"));
}

// ---- Requests -------------------------------------------------------------------------------------------------------

std::shared_ptr<Client::Reply> Client::start_request(std::string method, RawJson params) {
    auto reply = std::make_shared<Reply>();
    tasks_.spawn(request_into(reply, std::move(method), std::move(params)));
    return reply;
}

Task<void> Client::request_into(std::shared_ptr<Reply> reply, std::string method, RawJson params) {
    try {
        reply->result = co_await peer_.call_raw(std::move(method), std::move(params));
    } catch (const Error&) {
        reply->error = std::current_exception();
    }
    reply->done.set();
}

void Client::rethrow(std::exception_ptr error, std::string_view method) const {
    try {
        std::rethrow_exception(error);
    } catch (const Cancelled&) {
        throw;
    } catch (const protocol::RemoteError& remote) {
        throw failed(fmt::format("the server answered {} with an error: {}", method, remote_error_text(remote)));
    } catch (const Error& other) {
        if (other.code == ErrorCode::tool_server_failed || other.code == ErrorCode::limit_exceeded ||
            other.code == ErrorCode::login_required) {
            throw; // of the connection, which knows this request
        }
        if (is_closed()) {
            throw failed(fmt::format("the connection to the server ended before it answered {}{}{}", method,
                                     broken_because_.empty() ? "" : ": ", broken_because_));
        }
        if (other.code == ErrorCode::parse_error) {
            throw failed(fmt::format("the server's answer to {} is broken: {}", method, other.message));
        }
        throw failed(other.message, other.hint); // of the connection
    }
}

RawJson Client::complete(const RawJson& result, std::string_view method) const {
    if (!result.is_object()) {
        throw failed(fmt::format("expected an object as the result of {}, found {}", method, result.type()));
    }
    if (era_ == Era::legacy) {
        return result;
    }
    const std::string type = from_json<ResultType>(result, "result").result_type.value_or("complete");
    if (type != "complete") {
        throw failed(
            fmt::format("expected a resultType of \"complete\", found \"{}\"", escape_unprintable(type.substr(0, 60))));
    }
    return result;
}

Task<RawJson> Client::request(std::string method, RawJson params, Instant deadline) {
    const Duration limit = deadline - clock_.now();
    std::optional<RawJson> result;
    std::exception_ptr error;
    try {
        result = co_await with_timeout(clock_, limit, peer_.call_raw(method, std::move(params)));
    } catch (const Error&) {
        error = std::current_exception();
    }
    if (error) {
        rethrow(error, method);
    }
    if (!result) {
        throw failed(fmt::format("the server did not answer {} in time", method));
    }
    co_return complete(*result, method);
}

Task<std::vector<RawJson>> Client::list(std::string method, std::string member, Instant deadline) {
    ListPages pages(method, std::move(member));
    std::optional<std::string> cursor;
    do {
        std::string params = "{";
        if (cursor) {
            params += R"("cursor":)";
            append_json_string(params, *cursor);
        }
        params += meta(cursor ? "," : "") + "}";
        RawJson raw_params = RawJson::checked(std::move(params));
        const RawJson result = co_await request(method, std::move(raw_params), deadline);
        cursor = pages.add(result);
    } while (cursor);
    co_return pages.take();
}

Task<ToolList> Client::list_tools(Instant deadline) {
    std::string method = "tools/list";
    std::string member = "tools";
    const std::vector<RawJson> items = co_await list(std::move(method), std::move(member), deadline);
    tasks_only_.clear();
    for (const RawJson& item : items) {
        if (era_ == Era::legacy && features_.tasks && requires_task(item.text())) {
            tasks_only_.insert(json_member_text(item.text(), "name").value_or(""));
        }
    }
    co_return read_tools(items);
}

} // namespace cellgate::mcp
