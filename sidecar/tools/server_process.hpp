#pragma once
// `ServerProcess` is the process of a tool server that speaks on stdio, in the sandbox or not. Its owner awaits
// end() before releasing it.

#include "async/loop.hpp"
#include "async/process.hpp"
#include "base/byte_stream.hpp"
#include "tools/config.hpp"
#include "tools/registry.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cellgate::tools {

class ServerProcess {
  public:
    // Starts what `described` shows, with its variables put in. Throws Error{config_invalid, tool_server_failed,
    // sandbox_unavailable, denied}; then no process is left. `options` outlive the task.
    static Task<std::shared_ptr<ServerProcess>> start(async::Loop& loop, const RegistryOptions& options,
                                                      ServerSpec spec, ServerDescription described);

    const std::string& name() const { return name_; } // the server's
    const std::string& identity() const { return identity_; }
    bool in_sandbox() const { return sandbox_ != nullptr; }
    const std::vector<std::string>& layers() const { return layers_; }   // of isolation
    const std::vector<std::string>& notices() const { return notices_; } // of the sandbox, escaped

    // Its stdout and stdin, as long as the stream lives.
    std::unique_ptr<ByteStream> stream() const;
    // What it wrote to stderr, escaped.
    std::string log() const;
    // "; its stderr ends with: …", escaped.
    std::string last_words() const;
    // What a user can do about a process that did not work in the sandbox; empty outside it. Before end().
    Task<std::string> sandbox_hint();

    // Closes stdin; what does not end by itself is ended.
    Task<void> stop();
    // Waits until it has ended, and releases its sandbox.
    Task<async::ExitStatus> end();

  private:
    Task<void> spawn(async::Loop& loop, const RegistryOptions& options, const ServerSpec& spec,
                     const ServerDescription& described, async::Command command);
    Task<void> prepare_sandbox(const RegistryOptions& options, const ServerSpec& spec, const ServerIsolation& isolation,
                               async::Command* command);

    std::string name_;
    std::string identity_;
    std::vector<std::string> argv_; // outside the sandbox
    std::shared_ptr<SandboxedStart> sandbox_;
    std::vector<std::string> layers_;
    std::vector<std::string> notices_;
    std::shared_ptr<async::Process> process_;
};

} // namespace cellgate::tools
