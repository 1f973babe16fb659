// The tools of the registry's servers: what they offer, and calls of them.
#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/suggest.hpp"
#include "server_errors.hpp"
#include "server_instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace cellgate::tools {

Task<void> Registry::refresh(std::shared_ptr<ServerInstance> running) {
    while (const std::shared_ptr<Event> other = running->refreshing) {
        co_await other->wait();
    }
    running->stale = running->client->take_tools_changed() || running->stale;
    if (!running->stale) {
        co_return;
    }
    const auto refreshing = std::make_shared<Event>();
    running->refreshing = refreshing;
    running->stale = false;
    std::exception_ptr error;
    try {
        const mcp::ToolList list = co_await running->client->list_tools(clock_.now() + max_start_time);
        running->take(list);
    } catch (const Error&) {
        error = std::current_exception();
        running->stale = true;
    }
    running->refreshing = nullptr;
    refreshing->set();
    if (error) {
        std::rethrow_exception(error);
    }
}

Task<std::vector<protocol::ToolSpec>> Registry::tools(CallContext context, std::string server) {
    if (server == host_server_name) {
        require_allowed(context, server);
        co_return HostTools::specs();
    }
    const std::shared_ptr<ServerInstance> found = co_await running(std::move(context), std::move(server));
    co_await refresh(found);
    std::vector<protocol::ToolSpec> specs;
    for (const std::shared_ptr<const Tool>& tool : found->tools) {
        specs.push_back(tool->spec);
    }
    co_return specs;
}

Task<std::shared_ptr<const Registry::Tool>> Registry::find_tool(CallContext context, std::string server,
                                                                std::string tool) {
    std::shared_ptr<const Tool> found;
    std::vector<std::string> names;
    if (server == host_server_name) {
        require_allowed(context, server);
        if (const auto entry = host_tools_.find(tool); entry != host_tools_.end()) {
            found = entry->second;
        }
        for (const auto& [name, each] : host_tools_) {
            names.push_back(name);
        }
    } else {
        const std::shared_ptr<ServerInstance> offering = co_await running(std::move(context), server);
        co_await refresh(offering);
        found = offering->find(tool);
        for (const std::shared_ptr<const Tool>& each : offering->tools) {
            names.push_back(each->spec.name);
        }
    }
    if (!found) {
        throw Error(ErrorCode::tool_not_found,
                    fmt::format("the tool server {} has no tool {}", in_quotes(server), in_quotes(tool)),
                    did_you_mean(tool, names));
    }
    co_return found;
}

Task<std::optional<protocol::CallToolResult>> Registry::call(CallContext context, std::shared_ptr<const Tool> tool,
                                                             std::string server, RawJson arguments) {
    const std::shared_ptr<ServerInstance> found = co_await running(std::move(context), server);
    co_await refresh(found);
    const std::shared_ptr<const Tool> now = found->find(tool->spec.name);
    if (!now || now->identity != tool->identity || now->server_identity != tool->server_identity) {
        co_return std::nullopt;
    }
    std::exception_ptr error;
    try {
        co_return co_await found->client->call_tool(tool->spec.name, std::move(arguments));
    } catch (const Error&) {
        error = std::current_exception();
    }
    try {
        std::rethrow_exception(error);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& problem) {
        if (!found->client->is_closed()) {
            throw Error(problem.code, fmt::format("the tool server {}: {}", in_quotes(server), problem.message),
                        problem.hint);
        }
    }
    co_await found->ended.wait();
    // Not called again: how far it came is not known.
    throw failed(server, "ended during the call: " + found->cause, "It is started again on the next call.");
}

} // namespace cellgate::tools
