#include "mcp_tool_server.hpp"

#include "base/log.hpp"
#include "mcp/http_connection.hpp"
#include "mcp/request_not_taken.hpp"
#include "result_check.hpp"
#include "server_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace cellgate::tools {

namespace {

using namespace std::chrono_literals;

constexpr Duration max_start_time = 30s; // and of a list of tools
// After it, a program that says that it serves HTTP is not waited for.
constexpr Duration http_patience = 5s;

} // namespace

McpToolServer::McpToolServer(std::shared_ptr<ServerLink> link, Clock& clock) : link_(std::move(link)), clock_(clock) {}

Task<std::shared_ptr<McpToolServer>> McpToolServer::connect(std::shared_ptr<ServerLink> link,
                                                            mcp::Implementation ourselves, std::string root,
                                                            Clock& clock) {
    const auto server = std::make_shared<McpToolServer>(std::move(link), clock);
    std::exception_ptr error;
    TaskScope watching;
    watching.spawn(server->stop_if_http());
    try {
        co_await finally(server->handshake(std::move(ourselves), std::move(root)), cancel_and_join(watching));
    } catch (...) {
        error = current_error();
    }
    if (error) {
        co_await shielded(server->fail_start(error));
    }
    co_return server;
}

Task<void> McpToolServer::handshake(mcp::Implementation ourselves, std::string root) {
    const auto surroundings = std::make_shared<mcp::ClientSurroundings>();
    surroundings->folder = std::move(root);
    surroundings->on_log = [link = link_](const std::string& text) { link->add_to_log(text); };
    const Instant deadline = clock_.now() + max_start_time;
    std::shared_ptr<protocol::Connection> connection = link_->connection();
    client_ =
        co_await mcp::Client::connect(std::move(connection), std::move(ourselves), clock_, deadline, surroundings);
    co_await read_tools(deadline);
}

Task<void> McpToolServer::stop_if_http() {
    co_await sleep_for(clock_, http_patience);
    http_address_ = client_ ? std::string() : link_->http_address();
    if (!http_address_.empty()) {
        co_await link_->stop();
    }
}

// The exit status and stderr often say why.
Task<void> McpToolServer::fail_start(std::exception_ptr error) {
    co_await link_->stop();
    const std::string hint = co_await link_->hint();
    if (client_) {
        co_await client_->close();
    }
    const std::string how = co_await link_->end();
    try {
        std::rethrow_exception(error);
    } catch (const Cancelled&) {
        throw;
    } catch (const mcp::NotStreamable&) {
        throw;
    } catch (const Error& problem) {
        if (problem.code == ErrorCode::login_required) {
            throw; // it says all that there is to say
        }
        if (!http_address_.empty()) {
            throw failed(
                link_->name(), fmt::format("serves HTTP, and said nothing on its stdout ({})", how),
                fmt::format("Start it yourself and name its URL in place of its command: --url {}, or \"url\" in "
                            "a configuration.",
                            http_address_));
        }
        throw failed(link_->name(), fmt::format("did not start: {} ({})", problem.message, how),
                     hint.empty() ? problem.hint : hint);
    }
}

Task<void> McpToolServer::read_tools(Instant deadline) {
    const mcp::ToolList list = co_await client_->list_tools(deadline);
    tools_.clear();
    for (const protocol::ToolSpec& spec : list.tools) {
        tools_.push_back(make_tool(spec, link_->identity()));
    }
    for (const protocol::SkippedTool& skipped : list.skipped) {
        log_warning("the tool server {}: {} is left out: {}", in_quotes(link_->name()), skipped.tool, skipped.reason);
    }
    co_await add_features(deadline);
}

Task<void> McpToolServer::add_features(Instant deadline) {
    features_.clear();
    std::string name = link_->name();
    std::vector<FeatureTool> listed = co_await list_features(client_, std::move(name), deadline);
    for (FeatureTool& feature : listed) {
        // A tool of the server's own comes first, and then the one that was listed first. Templates need our
        // resources/read.
        const bool readable = feature.kind != FeatureTool::Kind::resource_template || feature_of(read_resource_tool);
        if (readable && !find_tool(tools_, feature.spec.name)) {
            tools_.push_back(make_tool(feature.spec, link_->identity()));
            features_.push_back(std::move(feature));
        }
    }
}

const FeatureTool* McpToolServer::feature_of(std::string_view tool) const {
    const auto found = std::find_if(features_.begin(), features_.end(),
                                    [&](const FeatureTool& each) { return each.spec.name == tool; });
    return found == features_.end() ? nullptr : &*found;
}

Task<void> McpToolServer::refresh() {
    const Mutex::Lock lock = co_await refreshing_.lock();
    stale_ = client_->take_tools_changed() || stale_;
    if (!stale_) {
        co_return;
    }
    co_await read_tools(clock_.now() + max_start_time);
    stale_ = false;
}

Task<std::pair<ToolPtr, RawJson>> McpToolServer::resolve(ToolPtr tool, RawJson arguments) {
    const FeatureTool* feature = feature_of(tool->spec.name);
    if (feature != nullptr && feature->kind == FeatureTool::Kind::resource_template) {
        RawJson resolved = template_arguments(*feature, arguments);
        co_return std::pair(find_tool(tools_, std::string(read_resource_tool)), std::move(resolved));
    }
    co_return std::pair(std::move(tool), std::move(arguments));
}

Task<void> McpToolServer::check(ToolPtr /*tool*/, RawJson /*arguments*/) {
    co_return; // only the server itself knows what it refuses
}

gate::Action McpToolServer::action_of(const Tool& tool, RawJson arguments) const {
    gate::ToolCall call;
    call.server = link_->name();
    call.tool = tool.spec.name;
    call.arguments = std::move(arguments);
    call.server_identity = tool.server_identity;
    call.tool_identity = tool.identity;
    return call;
}

Task<protocol::CallToolResult> McpToolServer::send_call(ToolPtr tool, RawJson arguments,
                                                        std::shared_ptr<mcp::CallFollower> follower) {
    if (const FeatureTool* feature = feature_of(tool->spec.name)) {
        FeatureTool called = *feature;
        return call_feature(client_, std::move(called), std::move(arguments), std::move(follower), &clock_,
                            max_start_time);
    }
    return client_->call_tool(tool->spec.name, std::move(arguments), std::move(follower));
}

Task<std::optional<protocol::CallToolResult>> McpToolServer::call(ToolPtr tool, gate::Action allowed,
                                                                  CallContext /*context*/,
                                                                  std::shared_ptr<mcp::CallFollower> follower) {
    co_await refresh();
    const ToolPtr now = find_tool(tools_, tool->spec.name);
    if (!now || now->identity != tool->identity || now->server_identity != tool->server_identity) {
        co_return std::nullopt;
    }
    std::exception_ptr error;
    try {
        RawJson arguments = std::move(std::get<gate::ToolCall>(allowed).arguments);
        const std::shared_ptr<void> allowed_host = link_->allow_host_of(arguments);
        protocol::CallToolResult result = co_await send_call(tool, std::move(arguments), std::move(follower));
        result = checked_result(tool->spec, std::move(result));
        if (link_->in_sandbox()) {
            result = with_proxy_note(std::move(result));
        }
        co_return result;
    } catch (const Error&) {
        error = std::current_exception();
    }
    bool may_be_called_again = false;
    try {
        std::rethrow_exception(error);
    } catch (const Cancelled&) {
        throw;
    } catch (const mcp::RequestNotTaken&) {
        may_be_called_again = true;
    } catch (const Error& problem) {
        if (problem.code == ErrorCode::login_required) {
            throw;
        }
        if (!client_->is_closed()) {
            throw Error(problem.code, fmt::format("the tool server {}: {}", in_quotes(link_->name()), problem.message),
                        problem.hint);
        }
    }
    co_await ended_.wait();
    if (may_be_called_again) {
        std::rethrow_exception(error);
    }
    // Not called again: how far it came is not known.
    throw failed(link_->name(), "ended during the call: " + cause_, "It is started again on the next call.");
}

Task<std::optional<std::string>> McpToolServer::run() {
    co_await client_->closed();
    co_await link_->stop();
    co_await client_->close();
    const std::string how = co_await link_->end();
    if (!stop_reason_.empty()) {
        cause_ = stop_reason_;
        co_return std::nullopt;
    }
    const std::string& broken = client_->broken_because();
    cause_ = fmt::format("{}{}{}", broken, broken.empty() ? "" : "; ", how);
    co_return cause_;
}

Task<void> McpToolServer::stop(std::string reason) {
    if (is_usable()) {
        stop_reason_ = std::move(reason);
        co_await link_->stop();
    }
    co_await ended_.wait();
}

} // namespace cellgate::tools
