// Which tool servers there are, by whose word, and what clients read about them.
#include "tools/registry.hpp"

#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "server_errors.hpp"
#include "server_instance.hpp"
#include "wrappers/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace cellgate::tools {

namespace {

using protocol::ToolServerSource;
using protocol::ToolServerState;

std::string package_of(const std::string& server) {
    return wrappers::generate(server, {}).package;
}

} // namespace

Registry::Registry(async::Loop& loop, Clock& clock, gate::Gate& gate, RegistryOptions options)
    : loop_(loop), clock_(clock), gate_(gate), options_(std::move(options)),
      host_(loop, options_.workspace, options_.environment) {
    for (const protocol::ToolSpec& spec : HostTools::specs()) {
        host_tools_[spec.name] = std::make_shared<Tool>(Tool{spec, identity_of(spec), host_identity()});
    }
}

Registry::~Registry() = default;

void Registry::add(const std::vector<ServerSpec>& specs) {
    std::vector<ServerDescription> described;
    std::map<std::string, std::string> packages; // of these
    for (const ServerSpec& spec : specs) {
        require_usable(spec);
        described.push_back(describe(spec, options_.workspace, options_.environment));
        const auto [entry, is_new] = packages.emplace(package_of(spec.name), spec.name);
        const std::optional<std::string> other = is_new ? same_package(spec.name, true) : std::optional(entry->second);
        if (other && other != spec.name) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("the wrappers of {} would be the package mcptools.{}, as those of {} are",
                                    in_quotes(spec.name), package_of(spec.name), in_quotes(*other)),
                        "give one of them another name");
        }
    }
    for (std::size_t i = 0; i < specs.size(); ++i) {
        while (const std::optional<std::string> other = same_package(specs[i].name, false)) {
            erase(*other, "a user gave another server whose wrappers are the same package");
        }
        insert(specs[i], std::move(described[i]));
    }
}

void Registry::add_from_agent(ServerSpec spec) {
    try {
        require_identifier(spec.name, "server name");
    } catch (const Error& error) {
        throw Error(ErrorCode::config_invalid, error.message); // the contract allows a user more
    }
    require_usable(spec);
    if (names_settings(spec)) {
        throw Error(ErrorCode::forbidden, "by which settings a tool server runs in the sandbox is for a user to say",
                    "ask for \"sandbox\": true, or for none");
    }
    if (spec.config.url) {
        throw no_http(spec.name);
    }
    ServerDescription described = describe(spec, options_.workspace, options_.environment);
    if (const std::optional<std::string> other = same_package(spec.name, false)) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("its wrappers would be the same package as those of {}", in_quotes(*other)),
                    "give it another name");
    }
    const auto entry = servers_.find(spec.name);
    if (entry != servers_.end() && entry->second->spec.source != ToolServerSource::agent) {
        if (to_json(entry->second->spec.config) == to_json(spec.config)) {
            return; // what the user means by the name
        }
        throw Error(
            ErrorCode::forbidden,
            fmt::format("there is a tool server {} already, and only a user can change it", in_quotes(spec.name)),
            "use that one, or give yours another name");
    }
    if (entry != servers_.end()) {
        Server& server = *entry->second;
        const bool is_first = server.spec.agent->client == spec.agent->client;
        const bool same =
            to_json(server.spec.config) == to_json(spec.config) && server.described.identity == described.identity;
        // The calls of another agent's code would be another program's.
        if (!same && !(is_first && server.co_owners.empty())) {
            throw Error(
                ErrorCode::forbidden,
                fmt::format("there is a tool server {} already, which another agent named", in_quotes(spec.name)),
                "give yours another name");
        }
        const bool is_known =
            is_first || std::any_of(server.co_owners.begin(), server.co_owners.end(),
                                    [&](const auto& each) { return each.client == spec.agent->client; });
        if (same && !is_known) {
            server.co_owners.push_back(*spec.agent);
        }
        if (same) {
            return;
        }
    }
    insert(std::move(spec), std::move(described));
}

void Registry::on_agent_disconnected(std::uint64_t client) {
    for (auto entry = servers_.begin(); entry != servers_.end();) {
        const std::string name = entry->first;
        Server& server = *entry->second;
        ++entry;
        std::erase_if(server.co_owners, [&](const gate::Agent& each) { return each.client == client; });
        if (!server.spec.agent || server.spec.agent->client != client) {
            continue;
        }
        if (server.co_owners.empty()) {
            erase(name, "its agent has gone");
        } else {
            server.spec.agent = server.co_owners.front();
            server.co_owners.erase(server.co_owners.begin());
        }
    }
}

std::optional<std::string> Registry::same_package(const std::string& name, bool only_given) const {
    const std::string package = package_of(name);
    if (package == package_of(std::string(host_server_name))) {
        return std::string(host_server_name);
    }
    for (const auto& [other, server] : servers_) {
        const bool counts = !only_given || !requires_approval(server->spec.source);
        if (other != name && counts && package_of(other) == package) {
            return other;
        }
    }
    return std::nullopt;
}

void Registry::erase(const std::string& name, std::string reason) {
    const auto entry = servers_.find(name);
    entry->second->removed = true;
    tasks_.spawn(stop(entry->second, std::move(reason)));
    servers_.erase(entry);
}

void Registry::insert(ServerSpec spec, ServerDescription described) {
    std::shared_ptr<Server>& entry = servers_[spec.name];
    if (entry) {
        const bool same = entry->described.identity == described.identity && entry->spec.source == spec.source &&
                          to_json(entry->spec.config) == to_json(spec.config);
        if (same) {
            entry->spec = std::move(spec);
            return;
        }
        entry->removed = true;
        tasks_.spawn(stop(entry, "its configuration changed"));
    }
    entry = std::make_shared<Server>();
    entry->spec = std::move(spec);
    entry->described = std::move(described);
}

void Registry::insert_from_file(const ServerSpec& spec) {
    ServerDescription described = describe(spec, options_.workspace, options_.environment);
    while (const std::optional<std::string> other = same_package(spec.name, false)) {
        const auto entry = servers_.find(*other);
        if (entry == servers_.end() || entry->second->spec.source != ToolServerSource::agent) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("its wrappers would be the same package as those of {}", in_quotes(*other)));
        }
        erase(*other, "a workspace's file names another server whose wrappers are the same package");
    }
    insert(spec, std::move(described));
}

std::vector<std::string> Registry::read_workspace_files() {
    ConfigFile found = read_workspace_config(options_.workspace);
    for (auto entry = servers_.begin(); entry != servers_.end();) {
        const std::string name = entry->first;
        const bool of_file = entry->second->spec.source == ToolServerSource::workspace_file;
        ++entry;
        const bool named = std::any_of(found.servers.begin(), found.servers.end(),
                                       [&](const ServerSpec& spec) { return spec.name == name; });
        if (of_file && !named) {
            erase(name, "the workspace's files do not name it any more");
        }
    }
    for (const ServerSpec& spec : found.servers) {
        const auto entry = servers_.find(spec.name);
        if (entry == servers_.end() || requires_approval(entry->second->spec.source)) {
            try {
                insert_from_file(spec);
            } catch (const Error& error) { // a program in the workspace that cannot be read
                found.problems.push_back(fmt::format("{}: {}", spec.name, error.message));
            }
        }
    }
    return std::move(found.problems);
}

std::shared_ptr<Registry::Server> Registry::find(const std::string& name) const {
    const auto entry = servers_.find(name);
    if (entry == servers_.end()) {
        std::vector<std::string> names{std::string(host_server_name)};
        for (const auto& [other, server] : servers_) {
            names.push_back(other);
        }
        throw not_found(name, names);
    }
    return entry->second;
}

Task<void> Registry::remove(std::string server) {
    if (server == host_server_name) {
        throw Error(ErrorCode::forbidden, "the tool server \"host\" is part of cellgate and cannot be removed",
                    "Name the tool servers of a session when you create it, to leave it out.");
    }
    const std::shared_ptr<Server> found = find(server);
    servers_.erase(server);
    found->removed = true;
    co_await stop(found, "it was removed");
}

Task<void> Registry::restart(CallContext context, std::string server) {
    if (server == host_server_name) {
        co_return;
    }
    const std::shared_ptr<Server> found = find(server);
    co_await stop(found, "it is restarted");
    co_await running(std::move(context), std::move(server));
}

protocol::ToolServerInfo Registry::info(const std::string& server) const {
    if (server == host_server_name) {
        protocol::ToolServerInfo info;
        info.name = host_server_name;
        info.state = ToolServerState::running;
        info.source = ToolServerSource::built_in;
        info.identity = host_identity();
        info.tools.emplace();
        for (const protocol::ToolSpec& spec : HostTools::specs()) {
            info.tools->push_back(info_of_tool(spec));
        }
        return info;
    }
    return info_of(*find(server));
}

std::vector<protocol::ToolServerInfo> Registry::list() const {
    std::vector<protocol::ToolServerInfo> all{info(std::string(host_server_name))};
    for (const auto& [name, server] : servers_) {
        all.push_back(info_of(*server));
    }
    return all;
}

std::string Registry::log(const std::string& server) const {
    if (server == host_server_name) {
        return {};
    }
    const std::shared_ptr<Server> found = find(server);
    const std::shared_ptr<async::Process>& process =
        found->starting && found->starting->process ? found->starting->process : found->last_process;
    return process ? escape_unprintable(process->stderr_tail(), true) : std::string();
}

protocol::ToolServerInfo Registry::info_of(const Server& server) const {
    protocol::ToolServerInfo info;
    info.name = server.spec.name;
    info.source = server.spec.source;
    info.file = server.spec.file;
    info.identity = server.described.identity;
    if (server.spec.config.command) {
        info.command = server.described.command;
        info.sandbox = server.described.sandbox ? protocol::SandboxKind::bwrap : protocol::SandboxKind::none;
    }
    if (server.described.sandbox && server.described.sandbox->settings) {
        info.sandbox_config = server.described.sandbox->settings->file;
    }
    info.url = server.spec.config.url;
    info.tools = server.tools;
    if (server.running) {
        info.state = ToolServerState::running;
        info.tools = server.running->tool_infos();
        if (server.running->sandbox) {
            info.layers = server.running->layers;
            info.sandbox_notices = server.running->sandbox_notices;
        }
    } else if (server.starting && server.starting->cancel) {
        info.state = ToolServerState::starting;
    } else if (!server.error.empty()) {
        info.state = ToolServerState::failed;
        info.error = server.error;
    } else if (requires_approval(server.spec.source) && !server.allowed) {
        info.state = ToolServerState::pending;
    }
    return info;
}

} // namespace cellgate::tools
