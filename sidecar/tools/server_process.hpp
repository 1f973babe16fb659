#pragma once
// `ServerProcess` is the process of a tool server that speaks on stdio, in the sandbox or not.

#include "async/loop.hpp"
#include "async/process.hpp"
#include "server_link.hpp"
#include "tools/config.hpp"
#include "tools/registry.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cellgate::tools {

class ServerProcess final : public ServerLink {
  public:
    // Starts what `described` shows, with its variables put in. Throws Error{config_invalid,
    // tool_server_failed, sandbox_unavailable, denied}; then no process is left. `options` outlive the task.
    static Task<std::shared_ptr<ServerProcess>> start(async::Loop& loop, const RegistryOptions& options,
                                                      ServerSpec spec, ServerDescription described, GivenValues given);

    bool in_sandbox() const override { return sandbox_ != nullptr; }
    // Its stdin and stdout, as long as the connection lives.
    std::shared_ptr<protocol::Connection> connection() override;
    std::string http_address() const override;
    std::shared_ptr<void> allow_host_of(const RawJson& arguments) override;
    Task<std::string> hint() override;
    // Closes stdin; what does not end by itself is ended.
    Task<void> stop() override;
    Task<std::string> end() override;

  private:
    // What it wrote to stderr.
    std::string output() const override;
    Task<void> spawn(async::Loop& loop, const RegistryOptions& options, const ServerSpec& spec,
                     const ServerDescription& described, async::Command command);
    Task<void> prepare_sandbox(const RegistryOptions& options, const ServerSpec& spec, const ServerIsolation& isolation,
                               async::Command* command);

    std::vector<std::string> argv_; // outside the sandbox
    bool is_web_ = false;           // the built-in server
    std::shared_ptr<SandboxedStart> sandbox_;
    std::shared_ptr<async::Process> process_;
    std::shared_ptr<std::string> first_output_ = std::make_shared<std::string>(); // the first bytes of its stdout
};

} // namespace cellgate::tools
