#pragma once
// `McpToolServer` is a running MCP server as a ToolServer: its connection, its tools, and the cause of its end. It
// makes no call twice. RunningServers awaits run(), then calls announce_end().

#include "base/clock.hpp"
#include "base/sync.hpp"
#include "feature_tools.hpp"
#include "mcp/client.hpp"
#include "server_link.hpp"
#include "tool_server.hpp"

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

class McpToolServer final : public ToolServer {
  public:
    // Completes once the server has named its tools. Throws Error{tool_server_failed} with what the server reported;
    // then it has ended. `root`: the folder for a server that asks for MCP's roots; empty: none. `clock` outlives the
    // server.
    static Task<std::shared_ptr<McpToolServer>> connect(std::shared_ptr<ServerLink> link, mcp::Implementation ourselves,
                                                        std::string root, Clock& clock);
    McpToolServer(std::shared_ptr<ServerLink> link, Clock& clock);

    bool is_usable() const override { return stop_reason_.empty() && !ended_.is_set(); }
    const std::vector<ToolPtr>& tools() const override { return tools_; }
    Task<void> refresh() override;
    Task<std::pair<ToolPtr, RawJson>> resolve(ToolPtr tool, RawJson arguments) override;
    Task<void> check(ToolPtr tool, RawJson arguments) override;
    gate::Action action_of(const Tool& tool, RawJson arguments) const override;
    Task<std::optional<protocol::CallToolResult>> call(ToolPtr tool, gate::Action allowed, CallContext context,
                                                       std::shared_ptr<mcp::CallFollower> follower) override;
    void add_to_log(const std::string& line) override { link_->add_to_log(line); }
    Task<void> stop(std::string reason) override;

    // Completes when the server has ended. Returns why, or nothing if it was stopped.
    Task<std::optional<std::string>> run();
    // Lets stop() end, and the calls that the server had.
    void announce_end() { ended_.set(); }

  private:
    Task<void> handshake(mcp::Implementation ourselves, std::string root);
    // Waits a while, then ends a program that serves HTTP and has not spoken on stdio.
    Task<void> stop_if_http();
    Task<void> read_tools(Instant deadline);
    Task<void> add_features(Instant deadline);
    // Nothing if the tool is one of the server's own.
    const FeatureTool* feature_of(std::string_view tool) const;
    Task<protocol::CallToolResult> send_call(ToolPtr tool, RawJson arguments,
                                             std::shared_ptr<mcp::CallFollower> follower);
    // Ends what started and does not speak MCP, and throws why.
    Task<void> fail_start(std::exception_ptr error);

    std::shared_ptr<ServerLink> link_;
    Clock& clock_;
    std::shared_ptr<mcp::Client> client_;
    std::vector<ToolPtr> tools_;
    std::vector<FeatureTool> features_;
    bool stale_ = false; // the server reported that its tools changed
    Mutex refreshing_;
    std::string http_address_; // of a program that did not start for that reason
    std::string stop_reason_;
    std::string cause_; // of its end
    Event ended_;
};

} // namespace cellgate::tools
