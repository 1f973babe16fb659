#include "server_catalog.hpp"

#include "base/names.hpp"
#include "server_errors.hpp"
#include "wrappers/generate.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::tools {

namespace {

using protocol::ToolServerSource;

std::string package_of(const std::string& server) {
    return wrappers::generate(server, {}).package;
}

bool same_config(const ServerSpec& a, const ServerSpec& b) {
    return to_json(a.config) == to_json(b.config);
}

Error taken(const std::string& server, const std::string& by, std::string hint) {
    return Error(ErrorCode::forbidden, fmt::format("there is a tool server {} already, {}", in_quotes(server), by),
                 std::move(hint));
}

void require_usable_from_agent(const ServerSpec& spec) {
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
}

} // namespace

ServerCatalog::ServerCatalog(Describe describe, OnRemoved on_removed, ReadFilesFor read_files_for)
    : describe_(std::move(describe)), on_removed_(std::move(on_removed)), read_files_for_(std::move(read_files_for)) {}

ServerEntryPtr ServerCatalog::add_built_in(std::string_view name, std::string identity) {
    const auto entry = std::make_shared<ServerEntry>();
    entry->spec.name = name;
    entry->spec.source = ToolServerSource::built_in;
    entry->described.identity = std::move(identity);
    entries_[entry->spec.name] = entry;
    return entry;
}

void ServerCatalog::add(const std::vector<ServerSpec>& specs) {
    std::vector<ServerDescription> described;
    std::map<std::string, std::string> packages; // of these
    for (const ServerSpec& spec : specs) {
        require_usable(spec);
        described.push_back(describe_(spec));
        const auto [entry, is_new] = packages.emplace(package_of(spec.name), spec.name);
        const std::optional<std::string> other =
            is_new ? same_package(spec.name, Among::beyond_approval) : std::optional(entry->second);
        if (other && other != spec.name) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("the wrappers of {} would be the package mcptools.{}, as those of {} are",
                                    in_quotes(spec.name), package_of(spec.name), in_quotes(*other)),
                        "give one of them another name");
        }
    }
    for (std::size_t i = 0; i < specs.size(); ++i) {
        while (const std::optional<std::string> other = same_package(specs[i].name, Among::all)) {
            remove(*other, "a user gave another server whose wrappers are the same package");
        }
        insert(specs[i], std::move(described[i]));
    }
}

void ServerCatalog::add_from_agent(ServerSpec spec) {
    require_usable_from_agent(spec);
    ServerDescription described = describe_(spec);
    if (const std::optional<std::string> other = same_package(spec.name, Among::all)) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("its wrappers would be the same package as those of {}", in_quotes(*other)),
                    "give it another name");
    }
    if (!is_known_from_agent(spec, described)) {
        insert(std::move(spec), std::move(described));
    }
}

// Whether the name already means exactly this server, whose owner the agent then is, too. Throws Error{forbidden} when
// the name means a server that this agent cannot change.
bool ServerCatalog::is_known_from_agent(const ServerSpec& spec, const ServerDescription& described) {
    const auto entry = entries_.find(spec.name);
    if (entry == entries_.end()) {
        return false;
    }
    ServerEntry& server = *entry->second;
    if (server.spec.source != ToolServerSource::agent) {
        if (same_config(server.spec, spec)) {
            return true; // what the user means by the name
        }
        throw taken(spec.name, "and only a user can change it", "use that one, or give yours another name");
    }
    const bool is_first = server.spec.agent->client == spec.agent->client;
    const bool same = same_config(server.spec, spec) && server.described.identity == described.identity;
    // The calls of another agent's code would be another program's.
    if (!same && !(is_first && server.co_owners.empty())) {
        throw taken(spec.name, "which another agent named", "give yours another name");
    }
    const bool is_owner = is_first || std::any_of(server.co_owners.begin(), server.co_owners.end(),
                                                  [&](const auto& each) { return each.client == spec.agent->client; });
    if (same && !is_owner) {
        server.co_owners.push_back(*spec.agent);
    }
    return same;
}

void ServerCatalog::on_agent_disconnected(std::uint64_t client) {
    for (auto entry = entries_.begin(); entry != entries_.end();) {
        const std::string name = entry->first;
        ServerEntry& server = *entry->second;
        ++entry;
        std::erase_if(server.co_owners, [&](const gate::Agent& each) { return each.client == client; });
        if (!server.spec.agent || server.spec.agent->client != client) {
            continue;
        }
        if (server.co_owners.empty()) {
            remove(name, "its agent has gone");
        } else {
            server.spec.agent = server.co_owners.front();
            server.co_owners.erase(server.co_owners.begin());
        }
    }
}

std::vector<std::string> ServerCatalog::set_workspace_files(ConfigFile found) {
    for (auto entry = entries_.begin(); entry != entries_.end();) {
        const std::string name = entry->first;
        const bool of_file = entry->second->spec.source == ToolServerSource::workspace_file;
        ++entry;
        const bool named = std::any_of(found.servers.begin(), found.servers.end(),
                                       [&](const ServerSpec& spec) { return spec.name == name; });
        if (of_file && !named) {
            remove(name, "the workspace's files do not name it any more");
        }
    }
    for (const ServerSpec& spec : found.servers) {
        const auto entry = entries_.find(spec.name);
        if (entry == entries_.end() || requires_approval(entry->second->spec.source)) {
            try {
                insert_from_file(spec);
            } catch (const Error& error) { // a program in the workspace that cannot be read
                found.problems.push_back(fmt::format("{}: {}", spec.name, error.message));
            }
        }
    }
    return std::move(found.problems);
}

void ServerCatalog::insert_from_file(const ServerSpec& spec) {
    ServerDescription described = describe_(spec);
    while (const std::optional<std::string> other = same_package(spec.name, Among::all)) {
        const auto entry = entries_.find(*other);
        if (entry == entries_.end() || entry->second->spec.source != ToolServerSource::agent) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("its wrappers would be the same package as those of {}", in_quotes(*other)));
        }
        remove(*other, "a workspace's file names another server whose wrappers are the same package");
    }
    insert(spec, std::move(described));
}

void ServerCatalog::insert(ServerSpec spec, ServerDescription described) {
    ServerEntryPtr& entry = entries_[spec.name];
    if (entry) {
        const bool same = entry->described.identity == described.identity && entry->spec.source == spec.source &&
                          same_config(entry->spec, spec);
        if (same) {
            entry->spec = std::move(spec);
            return;
        }
        entry->removed = true;
        on_removed_(entry, "its configuration changed");
    }
    entry = std::make_shared<ServerEntry>();
    entry->spec = std::move(spec);
    entry->described = std::move(described);
}

std::optional<std::string> ServerCatalog::same_package(const std::string& name, Among among) const {
    const std::string package = package_of(name);
    for (const auto& [other, entry] : entries_) {
        const bool counts = among == Among::all || !requires_approval(entry->spec.source);
        if (other != name && counts && package_of(other) == package) {
            return other;
        }
    }
    return std::nullopt;
}

ServerEntryPtr ServerCatalog::find(const std::string& name) const {
    if (!entries_.contains(name)) {
        read_files_for_(name);
    }
    const auto entry = entries_.find(name);
    if (entry == entries_.end()) {
        std::vector<std::string> names;
        for (const ServerEntryPtr& each : entries()) {
            if (each->spec.name != kernel_server_name) { // which is no user's
                names.push_back(each->spec.name);
            }
        }
        throw not_found(name, names);
    }
    return entry->second;
}

ServerEntryPtr ServerCatalog::take(const std::string& name) {
    ServerEntryPtr entry = find(name);
    if (entry->spec.source == ToolServerSource::built_in) {
        throw Error(ErrorCode::forbidden,
                    fmt::format("the tool server {} is part of cellgate and cannot be removed", in_quotes(name)),
                    "Name the tool servers of a session when you create it, to leave it out.");
    }
    entry->removed = true;
    entries_.erase(name);
    return entry;
}

void ServerCatalog::remove(const std::string& name, std::string reason) {
    const ServerEntryPtr entry = take(name);
    on_removed_(entry, std::move(reason));
}

std::optional<std::string> ServerCatalog::identity_of(const std::string& name) const {
    const auto entry = entries_.find(name);
    if (entry == entries_.end() || entry->second->spec.source == ToolServerSource::agent) {
        return std::nullopt;
    }
    return entry->second->described.identity;
}

std::vector<ServerEntryPtr> ServerCatalog::entries() const {
    std::vector<ServerEntryPtr> all;
    for (const bool built_in : {true, false}) {
        for (const auto& [name, entry] : entries_) {
            if ((entry->spec.source == ToolServerSource::built_in) == built_in) {
                all.push_back(entry);
            }
        }
    }
    return all;
}

} // namespace cellgate::tools
