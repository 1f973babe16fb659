#include "running_servers.hpp"

#include "base/enum_name.hpp"
#include "server_errors.hpp"
#include "tools/config.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::tools {

namespace {

using protocol::ToolServerSource;
using protocol::ToolServerState;

void require_allowed(const CallContext& context, const std::string& server) {
    if (server == kernel_server_name) {
        if (!context.asks_before_programs) {
            throw Error(ErrorCode::tool_server_not_found, "only kernels call the server \"kernel\", by their profile");
        }
        return;
    }
    if (context.servers &&
        std::find(context.servers->begin(), context.servers->end(), server) == context.servers->end()) {
        throw Error(ErrorCode::tool_server_not_found,
                    fmt::format("this session may not use the tool server {}", in_quotes(server)),
                    "A user names the tool servers of a session when it is created.");
    }
}

protocol::SandboxKind sandbox_kind(const std::optional<ServerIsolation>& sandbox) {
    const sandbox::Isolation isolation = sandbox ? sandbox->isolation : sandbox::Isolation::none;
    return parse_enum<protocol::SandboxKind>(sandbox::traits_of(isolation).name).value();
}

// What the configuration alone says.
protocol::ToolServerInfo configured_info(const ServerEntry& entry) {
    protocol::ToolServerInfo info;
    info.name = entry.spec.name;
    info.source = entry.spec.source;
    info.file = entry.spec.file;
    info.identity = entry.described.identity;
    const bool is_process = !entry.described.command.empty();
    if (is_process) {
        info.command = entry.described.command;
        info.sandbox = sandbox_kind(entry.described.sandbox);
    }
    if (entry.described.sandbox && entry.described.sandbox->settings) {
        info.sandbox_config = entry.described.sandbox->settings->file;
    }
    info.url = entry.spec.config.url;
    if (is_process || entry.spec.config.url) {
        info.transport =
            entry.spec.config.url ? protocol::ToolServerTransport::http : protocol::ToolServerTransport::stdio;
    }
    return info;
}

} // namespace

RunningServers::RunningServers(ServerCatalog& catalog, const ServerStarter& starter)
    : catalog_(catalog), starter_(starter) {}

RunningServers::RecordPtr RunningServers::record_of(const ServerEntryPtr& entry) {
    RecordPtr& record = records_[entry];
    if (!record) {
        record = std::make_shared<Record>();
        record->entry = entry;
    }
    return record;
}

void RunningServers::adopt(const ServerEntryPtr& entry, std::shared_ptr<ToolServer> server) {
    record_of(entry)->server = std::move(server);
}

Task<std::shared_ptr<ToolServer>> RunningServers::running(CallContext context, std::string name) {
    require_allowed(context, name);
    while (true) {
        const RecordPtr record = record_of(catalog_.find(name));
        if (record->server && record->server->is_usable()) {
            co_return record->server;
        }
        if (closed_) {
            throw failed(name, "cannot be started: cellgate is ending");
        }
        std::shared_ptr<ServerLaunch> launch = record->launch;
        if (!launch) {
            launch = co_await begin(context, record);
        }
        if (!launch) {
            continue; // the name means another server by now
        }
        co_await launch->done.wait();
        if (launch->error) {
            std::rethrow_exception(launch->error);
        }
        if (launch->server) {
            co_return launch->server; // even if it has ended meanwhile: the call then tells how
        }
    }
}

Task<std::shared_ptr<ServerLaunch>> RunningServers::begin(CallContext context, RecordPtr record) {
    const ServerEntryPtr entry = record->entry;
    const auto launch = std::make_shared<ServerLaunch>();
    launch->spec = entry->spec;
    launch->described = starter_.describe_now(entry->spec);
    record->launch = launch;
    std::exception_ptr error;
    bool refused = false;
    try {
        co_await starter_.require_approval(context, launch);
        co_await starter_.take_values(std::move(context), launch);
    } catch (const Cancelled&) {
        refused = entry->co_owners.empty(); // another agent that named it may ask for itself
        error = std::current_exception();
    } catch (const Error& problem) {
        refused = problem.code == ErrorCode::denied;
        launch->error = std::current_exception();
        error = launch->error;
    } catch (...) {
        launch->error = current_error();
        error = launch->error;
    }
    if (refused && entry->spec.source == ToolServerSource::agent && !entry->removed) {
        catalog_.remove(entry->spec.name, "its start was refused"); // so that another server can have the name
    }
    if (error || entry->removed) {
        record->launch = nullptr;
        launch->done.set();
        if (error) {
            std::rethrow_exception(error);
        }
        co_return nullptr;
    }
    entry->described = launch->described;
    record->allowed = true;
    launch->cancel = tasks_.spawn(run_launch(record, launch));
    co_return launch;
}

Task<void> RunningServers::run_launch(RecordPtr record, std::shared_ptr<ServerLaunch> launch) {
    record->error.clear();
    record->wanted_login = false;
    try {
        co_await starter_.start(launch);
    } catch (const Cancelled&) {
        launch->error = std::make_exception_ptr(failed(launch->spec.name, "was stopped before it had started"));
    } catch (...) {
        launch->error = current_error();
        record->error = message_of(launch->error);
        record->wanted_login = code_of(launch->error) == ErrorCode::login_required;
    }
    if (launch->link) {
        record->link = launch->link;
    }
    if (launch->server) {
        record->server = launch->server;
        tasks_.spawn(watch(record, launch->server));
    }
    record->launch = nullptr;
    launch->done.set();
    const ServerEntryPtr entry = record->entry;
    const bool is_of_agent = entry->spec.source == ToolServerSource::agent && !entry->removed;
    if (is_of_agent && !record->server && !record->error.empty() && !record->wanted_login) {
        catalog_.remove(entry->spec.name, "it did not start"); // its error is the answer to who named it
    }
}

Task<void> RunningServers::watch(RecordPtr record, std::shared_ptr<McpToolServer> server) {
    const std::optional<std::string> cause = co_await server->run();
    if (cause) {
        record->error = fmt::format("the tool server {} ended: {}", in_quotes(record->entry->spec.name), *cause);
    }
    server->announce_end();
}

Task<void> RunningServers::stop(const ServerEntryPtr& entry, std::string reason) {
    const RecordPtr record = record_of(entry);
    if (entry->removed) {
        records_.erase(entry);
    }
    return stop_record(record, std::move(reason));
}

void RunningServers::retire(const ServerEntryPtr& entry, std::string reason) {
    tasks_.spawn(stop(entry, std::move(reason)));
}

Task<void> RunningServers::stop_record(RecordPtr record, std::string reason) {
    if (const std::shared_ptr<ServerLaunch> launch = record->launch; launch && launch->cancel) {
        launch->cancel->cancel();
        co_await launch->done.wait();
    }
    record->error.clear();
    if (const std::shared_ptr<ToolServer> server = record->server) {
        co_await server->stop(std::move(reason));
    }
}

Task<void> RunningServers::close() {
    closed_ = true;
    for (const auto& [entry, record] : records_) {
        tasks_.spawn(stop_record(record, "cellgate is ending"));
    }
    co_await tasks_.join();
}

std::vector<ToolPtr> RunningServers::known_tools(const ServerEntryPtr& entry) {
    const RecordPtr record = record_of(entry);
    return record->server ? record->server->tools() : std::vector<ToolPtr>();
}

protocol::ToolServerInfo RunningServers::info(const ServerEntryPtr& entry) {
    const RecordPtr record = record_of(entry);
    protocol::ToolServerInfo info = configured_info(*entry);
    const std::shared_ptr<ServerAuthorizer> authorizer = find_authorizer(*entry);
    if (entry->spec.config.url) {
        info.authorization = authorizer ? authorizer->state() : protocol::ToolServerAuthorization::none;
    }
    const bool has_login = info.authorization == protocol::ToolServerAuthorization::granted;
    if (record->server) {
        info.tools = infos_of(record->server->tools());
    }
    if (record->server && record->server->is_usable() && authorizer && authorizer->is_locked_out()) {
        info.state = ToolServerState::failed; // each call is
        info.error = authorizer->login_required("wants a user to log in").message;
    } else if (record->server && record->server->is_usable()) {
        info.state = ToolServerState::running;
        if (record->link && record->link->in_sandbox()) {
            info.layers = record->link->layers();
            info.sandbox_notices = record->link->notices();
        }
    } else if (record->launch && record->launch->cancel) {
        info.state = ToolServerState::starting;
    } else if (!record->error.empty() && !(record->wanted_login && has_login)) {
        info.state = ToolServerState::failed;
        info.error = record->error;
    } else if (const std::optional<Error>& problem = entry->described.problem) {
        info.state = ToolServerState::failed;
        info.error = fmt::format("{}{}{}", problem->message, problem->hint.empty() ? "" : ". ", problem->hint);
    } else if (requires_approval(entry->spec.source) && !record->allowed) {
        info.state = ToolServerState::pending;
    }
    return info;
}

void RunningServers::require_login(const ServerEntryPtr& entry) {
    if (!ServerStarter::has_login(entry->spec)) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("the tool server {} has no login: {}", in_quotes(entry->spec.name),
                                entry->spec.config.url ? "its configuration says who asks, by a header or in the URL"
                                                       : "it is not reached by a URL"));
    }
}

std::shared_ptr<ServerAuthorizer> RunningServers::require_authorizer(const ServerEntryPtr& entry) const {
    require_login(entry);
    return starter_.authorizer_of(entry->spec);
}

std::shared_ptr<ServerAuthorizer> RunningServers::find_authorizer(const ServerEntry& entry) const {
    try {
        return starter_.authorizer_of(entry.spec);
    } catch (const Error&) {
        return nullptr; // a variable is not set, or an input not asked for: its start says so
    }
}

std::string RunningServers::log(const ServerEntryPtr& entry) {
    const RecordPtr record = record_of(entry);
    const std::shared_ptr<ServerLink>& link =
        record->launch && record->launch->link ? record->launch->link : record->link;
    return link ? link->log() : std::string();
}

} // namespace cellgate::tools
