#pragma once
// `Sidecar` is the composition root: one sidecar for one workspace. It creates the gate, the tool servers and the
// sessions, and serves clients over the connections that it is given. close() ends every process and must have been
// awaited before destruction.

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

// Throws Error{config_invalid} if it is not a directory.
std::string canonical_workspace(const std::string& workspace);

struct SidecarOptions {
    std::string workspace;                                         // the workspace; made canonical
    std::map<std::string, std::string> environment;                // of this process
    std::vector<protocol::RuleSpec> rules;                         // from the command line
    std::map<std::string, protocol::McpServerConfig> tool_servers; // from the command line: their start is allowed
    std::map<std::string, std::string> login_options; // by server: with which options `cellgate login` finds it
    std::optional<std::string> sandbox_config;        // sandbox settings file, for sessions that name none
    std::optional<std::string> trace_file;            // every message of every client, as JSON lines
    // Whether it outlives its clients: after a crash, the next sidecar reports the lost work. False for a sidecar that
    // is part of its only client.
    bool outlives_clients = true;
};

class Sidecar {
  public:
    // Throws Error{config_invalid, store_failed} for a workspace or directories that cannot be used.
    Sidecar(async::Loop& loop, SidecarOptions options);
    Sidecar(const Sidecar&) = delete;
    Sidecar& operator=(const Sidecar&) = delete;
    ~Sidecar();

    // Serves one client until it sends `exit` or its connection ends. Returns whether it sent `shutdown` before.
    Task<bool> serve(std::shared_ptr<protocol::Connection> connection, protocol::Role role);

    // For a sidecar that outlives its clients: whether it has clients, or expects one to reconnect; wait_idle() returns
    // when it does not.
    bool needed() const;
    Task<void> wait_idle();
    // Expects the first client within this time.
    void expect_client(Duration within);
    // No further client can connect: it is not needed once its clients have left and all executions have ended.
    void drain();

    // Ends sessions, tool servers and pending approvals.
    Task<void> close();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace cellgate::service
