#pragma once
// The composition root: one sidecar for one workspace. It makes the gate, the tool servers and the sessions, and serves
// clients over connections that are given to it. close() must have been awaited before it goes; it ends every process.

#include "async/loop.hpp"
#include "protocol/connection.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "protocol/messages/policy.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::service {

// Throws Error{config_invalid} when it is no directory.
std::string canonical_root(const std::string& root);

struct SidecarOptions {
    std::string root;                                              // the workspace; made canonical
    std::map<std::string, std::string> environment;                // of this process
    std::vector<protocol::RuleSpec> rules;                         // from the command line
    std::map<std::string, protocol::McpServerConfig> tool_servers; // from the command line: their start is allowed
    std::optional<std::string> sandbox_config; // a settings file for the sandbox of every session that names none
    std::optional<std::string> trace_file;     // every message of every client, as JSON lines
    // Whether clients may come back to what it did: if it crashes, the next one tells them what was lost. Not for a
    // sidecar that is part of its only client.
    bool outlives_clients = true;
};

class Sidecar {
  public:
    // Throws Error{config_invalid, store_failed} for a root or directories that cannot be used.
    Sidecar(async::Loop& loop, SidecarOptions options);
    Sidecar(const Sidecar&) = delete;
    Sidecar& operator=(const Sidecar&) = delete;
    ~Sidecar();

    // Serves one client until it says `exit` or its connection ends. The role comes from how it connected. Returns
    // whether it said `shutdown` before it went.
    Task<bool> serve(std::shared_ptr<protocol::Connection> connection, protocol::Role role);

    // For a sidecar that clients come to and leave: whether it has clients or expects one that vanished, and when it
    // has not any more.
    bool needed() const;
    Task<void> unneeded();
    // The first client is expected within this time.
    void expect_client(Duration within);
    // Nobody can come any more: it is not needed once its clients have gone and what runs has ended.
    void drain();

    // Ends sessions, tool servers and pending approvals.
    Task<void> close();

    struct Impl;

  private:
    std::unique_ptr<Impl> impl_;
};

} // namespace cellgate::service
