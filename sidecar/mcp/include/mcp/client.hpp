#pragma once
// `Client` is a client of one MCP server over an existing connection. It speaks both eras: the modern one (2026-07-28,
// every request describes itself) and the legacy one (initialize, 2024-11-05 to 2025-11-25), and detects which. The
// server is untrusted: results are checked, lists are bounded, invalid messages are counted and ignored, and its errors
// become Error{tool_server_failed}, never our own codes. Requests from the server (roots, sampling, elicitation) are
// refused. Owned by the caller of connect(), which must await close() before releasing it.

#include "base/clock.hpp"
#include "mcp/implementation.hpp"
#include "protocol/connection.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "protocol/peer.hpp"
#include "protocol/tool_spec.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::mcp {

struct ProgressParams;

enum class Era { legacy, modern };

// How far a call is, by the server's word. Untrusted.
struct CallProgress {
    double progress = 0;
    std::optional<double> total;
    std::optional<std::string> message;
};
using OnProgress = std::function<void(const CallProgress&)>;

struct ToolList {
    std::vector<protocol::ToolSpec> tools;
    std::vector<protocol::SkippedTool> skipped; // unusable tools, with the reason
};

class Client {
  public:
    // Throws Error{tool_server_failed} when the handshake fails or does not end before `deadline`.
    static Task<std::shared_ptr<Client>> connect(std::shared_ptr<protocol::Connection> connection,
                                                 Implementation ourselves, Clock& clock, Instant deadline);
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    Era era() const { return era_; }
    const std::string& protocol_version() const { return version_; }
    const std::optional<Implementation>& server_info() const { return server_info_; }

    // All pages.
    Task<ToolList> list_tools(Instant deadline);
    // The bytes of `arguments` are sent unchanged. Cancelling notifies the server. No deadline: a tool may run for any
    // time. `on_progress`, if there is one, is called until the call ends. Throws RequestNotTaken.
    Task<protocol::CallToolResult> call_tool(std::string tool, RawJson arguments, OnProgress on_progress = {});

    // Whether the server reported changed tools since the last call.
    bool take_tools_changed() { return std::exchange(tools_changed_, false); }
    // The number of invalid messages: from a program that also prints on its stdout.
    std::size_t ignored_messages() const { return ignored_messages_; }

    bool is_closed() const { return ended_.is_set(); }
    // Completes when the connection has ended.
    Task<void> closed();
    // Why the client ended the connection, if the server violated the protocol; empty otherwise.
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
    void on_progress(const ProgressParams& params);
    void on_malformed_message(const protocol::Frame& frame, const Error& why);
    void abort_connection(std::string reason);

    std::shared_ptr<Reply> start_request(std::string method, RawJson params);
    Task<void> request_into(std::shared_ptr<Reply> reply, std::string method, RawJson params);
    // The complete result. Throws at `deadline`.
    Task<RawJson> request(std::string method, RawJson params, Instant deadline);
    // The `_meta` member of every request of the modern era, after `before`; empty in the legacy era, unless there is a
    // token for progress.
    std::string meta(std::string_view before, std::optional<std::uint64_t> progress_token = std::nullopt) const;
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
    std::uint64_t next_progress_token_ = 1;
    std::map<std::uint64_t, OnProgress> in_progress_; // calls, by their token
    Event ended_;
    TaskScope tasks_;
};

} // namespace cellgate::mcp
