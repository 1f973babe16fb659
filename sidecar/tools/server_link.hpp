#pragma once
// `ServerLink` is what carries the messages of a running MCP server: the pipes of its process, or HTTP. Its owner
// awaits end() before releasing it.

#include "base/raw_json.hpp"
#include "base/task.hpp"
#include "protocol/connection.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cellgate::tools {

class ServerLink {
  public:
    ServerLink() = default;
    ServerLink(const ServerLink&) = delete;
    ServerLink& operator=(const ServerLink&) = delete;
    virtual ~ServerLink() = default;

    const std::string& name() const { return name_; } // the server's
    const std::string& identity() const { return identity_; }
    virtual bool in_sandbox() const { return false; }
    const std::vector<std::string>& layers() const { return layers_; }   // of isolation
    const std::vector<std::string>& notices() const { return notices_; } // of the sandbox, escaped

    virtual std::shared_ptr<protocol::Connection> connection() = 0;
    // What the server wrote beside its messages, then what it sent to be logged, escaped.
    std::string log() const;
    // The last 64 KiB of these are kept. `text` is escaped.
    void add_to_log(const std::string& text);
    // The URL at which it says that it serves HTTP, escaped; empty if it does not, or has written a message of MCP.
    virtual std::string http_address() const { return {}; }
    // Of a call that was allowed: lets the server connect to the host that the arguments name, while the result is
    // kept. nullptr: each host has to be allowed by itself.
    virtual std::shared_ptr<void> allow_host_of(const RawJson& /*arguments*/) { return nullptr; }
    // What a user can do about a server that did not work; empty when that is not known. Before end().
    virtual Task<std::string> hint() = 0;

    // Asks the server to end; a process that does not is ended.
    virtual Task<void> stop() = 0;
    // Waits until it has ended, and releases what it held. How, escaped: "exit code 1; its stderr ends with: …".
    virtual Task<std::string> end() = 0;

  protected:
    // What the server wrote beside its messages, escaped.
    virtual std::string output() const { return {}; }

    std::string name_;
    std::string identity_;
    std::vector<std::string> layers_;
    std::vector<std::string> notices_;

  private:
    std::string logged_;
};

} // namespace cellgate::tools
