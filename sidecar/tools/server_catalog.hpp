#pragma once
// `ServerCatalog` is the table of the tool servers that there are: by name, with who named each of them. A user's word
// has precedence over that of a workspace's file, and both over an agent's; a built-in server stays. No two servers
// have wrappers of the same package. The catalogue starts and stops nothing, and reads no files itself: it reports each
// server that it removes or replaces to its owner, the registry.

#include "tools/config.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

struct ServerEntry {
    ServerSpec spec;
    ServerDescription described;
    std::vector<gate::Agent> co_owners; // other agents that named exactly this one, in turn
    bool removed = false;               // or replaced: the catalogue does not have this entry any more
};
using ServerEntryPtr = std::shared_ptr<ServerEntry>;

class ServerCatalog {
  public:
    using Describe = std::function<ServerDescription(const ServerSpec& spec)>;
    using OnRemoved = std::function<void(const ServerEntryPtr& entry, std::string reason)>;

    // Calls set_workspace_files() if a file has this name by now, which means no server.
    using ReadFilesFor = std::function<void(const std::string& name)>;

    ServerCatalog(Describe describe, OnRemoved on_removed, ReadFilesFor read_files_for);

    ServerEntryPtr add_built_in(std::string_view name, std::string identity);
    // As Registry's functions of these names.
    void add(const std::vector<ServerSpec>& specs);
    void add_from_agent(ServerSpec spec);
    void on_agent_disconnected(std::uint64_t client);
    // Makes the servers of the workspace's files those of `found`. Returns its problems and those that it causes.
    std::vector<std::string> set_workspace_files(ConfigFile found);

    // Throw Error{tool_server_not_found}. take() removes the server without a report; it and remove() throw
    // Error{forbidden} for a built-in one.
    ServerEntryPtr find(const std::string& name) const;
    ServerEntryPtr take(const std::string& name);
    void remove(const std::string& name, std::string reason);
    // Nothing for a name that means no server, or one that an agent named.
    std::optional<std::string> identity_of(const std::string& name) const;
    // Built-in ones first, then by name.
    std::vector<ServerEntryPtr> entries() const;

  private:
    enum class Among { all, beyond_approval };
    // The name of another server whose wrappers would be the same package.
    std::optional<std::string> same_package(const std::string& name, Among among) const;
    bool is_known_from_agent(const ServerSpec& spec, const ServerDescription& described);
    void insert(ServerSpec spec, ServerDescription described);
    void insert_from_file(const ServerSpec& spec);

    Describe describe_;
    OnRemoved on_removed_;
    ReadFilesFor read_files_for_;
    std::map<std::string, ServerEntryPtr> entries_;
};

} // namespace cellgate::tools
