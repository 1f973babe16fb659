#pragma once
// A client of one MCP server over a connection that somebody else made. It speaks both eras: the modern one
// (2026-07-28, every request describes itself) and the legacy one (initialize, 2024-11-05 to 2025-11-25), and finds out
// which. All that a server says is untrusted: results are checked before they are given out, lists are bounded, what is
// no message is counted and ignored, and its errors are told as Error{tool_server_failed}, never as codes of ours. What
// a server asks of us (roots, sampling, elicitation) is refused at once. Owned by whoever called connect(), who has to
// await close() before letting go of it.

#include "base/clock.hpp"
#include "mcp/implementation.hpp"
#include "protocol/connection.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "protocol/peer.hpp"
#include "protocol/tool_spec.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::mcp {

enum class Era { legacy, modern };

struct ToolList {
    std::vector<protocol::ToolSpec> tools;
    std::vector<protocol::SkippedTool> skipped; // those that cannot be used, and why
};

class Client {
  public:
    // Throws Error{tool_server_failed} when the server does not come to an understanding with us before `deadline`.
    static Task<std::shared_ptr<Client>> connect(std::shared_ptr<protocol::Connection> connection,
                                                 Implementation ourselves, Clock& clock, Instant deadline);
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    Era era() const { return era_; }
    const std::string& protocol_version() const { return version_; }
    const std::optional<Implementation>& server_info() const { return server_info_; }

    // All pages.
    Task<ToolList> list_tools(Instant deadline);
    // The bytes of `arguments` are sent as they are. Cancelling tells the server. No deadline: a tool takes its time.
    Task<protocol::CallToolResult> call_tool(std::string tool, RawJson arguments);

    // Whether the server said that its tools are others now; asking forgets it.
    bool take_tools_changed() { return std::exchange(tools_changed_, false); }
    // What came from the server and was no message: a program that also prints on its stdout.
    std::size_t ignored_messages() const { return ignored_messages_; }

    bool is_closed() const { return ended_.is_set(); }
    // Once the connection has ended.
    Task<void> closed();
    // Why we ended it, when the server broke the protocol beyond use; empty otherwise.
    const std::string& broken_because() const { return broken_because_; }
    Task<void> close();

  private:
    struct Reply;

    Client(std::shared_ptr<protocol::Connection> connection, Implementation ourselves, Clock& clock);

    Task<void> run();
    Task<void> negotiate(Instant deadline);
    Task<void> initialize(std::shared_ptr<Reply> probe, Instant deadline);
    bool take_modern(const Reply& reply);
    void subscribe();
    void take_garbage(const protocol::Frame& frame, const Error& why);
    void break_off(std::string reason);

    std::shared_ptr<Reply> start_request(std::string method, RawJson params);
    Task<void> request_into(std::shared_ptr<Reply> reply, std::string method, RawJson params);
    // What is to go into the params of every request of the modern era, with a comma before it; empty in the legacy
    // one.
    std::string meta(std::string_view before) const;
    RawJson complete(const RawJson& result, std::string_view method) const;
    [[noreturn]] void rethrow(std::exception_ptr error, std::string_view method) const;

    protocol::Peer peer_;
    Implementation ourselves_;
    Clock& clock_;
    Era era_ = Era::legacy;
    std::string version_;
    std::optional<Implementation> server_info_;
    bool tools_changed_ = false;
    std::size_t ignored_messages_ = 0;
    std::string broken_because_;
    Event ended_;
    TaskScope tasks_;
};

} // namespace cellgate::mcp
