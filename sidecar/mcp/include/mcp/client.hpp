#pragma once
// `Client` is a client of one MCP server over an existing connection. It speaks both eras: the modern one (2026-07-28,
// every request describes itself) and the legacy one (initialize, 2024-11-05 to 2025-11-25), and detects which. The
// server is untrusted: results are checked, lists are bounded, invalid messages are counted and ignored, and its errors
// become Error{tool_server_failed}, never our own codes. What a server asks the user goes to the follower of the call
// that it belongs to; without one it is declined. A server may ask for the workspace's folder; requests for a model's
// answer are refused. Owned by the caller of connect(), which must await close() before releasing it.

#include "base/clock.hpp"
#include "base/sync.hpp"
#include "mcp/call_follower.hpp"
#include "mcp/era.hpp"
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
#include <set>
#include <string>
#include <vector>

namespace cellgate::mcp {

struct LogMessageParams;
struct ProgressParams;

class RunningCall;
struct InputRequired;
struct ServerTask;

// What a server hears and says beside its tools.
struct ClientSurroundings {
    std::string folder;                                  // that the user works in, absolute; empty: none
    std::function<void(const std::string& text)> on_log; // one message of its log, escaped; may be empty
};

struct ToolList {
    std::vector<protocol::ToolSpec> tools;
    std::vector<protocol::SkippedTool> skipped; // unusable tools, with the reason
};

// What the server has beside tools, and which of its lists it reports changes of.
struct Features {
    bool resources = false;
    bool prompts = false;
    bool subscriptions = false; // to resources
    bool tasks = false;         // legacy era: of tools
    bool tools_change = false;
    bool resources_change = false;
    bool prompts_change = false;
};

class Client {
  public:
    // Throws Error{tool_server_failed} when the handshake fails or does not end before `deadline`.
    static Task<std::shared_ptr<Client>> connect(std::shared_ptr<protocol::Connection> connection,
                                                 Implementation ourselves, Clock& clock, Instant deadline,
                                                 std::shared_ptr<const ClientSurroundings> surroundings = nullptr);
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    Era era() const { return era_; }
    const std::string& protocol_version() const { return version_; }
    const std::optional<Implementation>& server_info() const { return server_info_; }

    const Features& features() const { return features_; }

    // All pages.
    Task<ToolList> list_tools(Instant deadline);
    // All items of `member` of the results of `method`, resources/list for instance.
    Task<std::vector<RawJson>> list(std::string method, std::string member, Instant deadline);
    // The bytes of `arguments` are sent unchanged, each time that the server asks for more input before it goes on.
    // Cancelling notifies the server. No deadline: a tool may run for any time. `follower` may be nullptr. Throws
    // RequestNotTaken.
    Task<protocol::CallToolResult> call_tool(std::string tool, RawJson arguments,
                                             std::shared_ptr<CallFollower> follower = nullptr);

    // As a call of a tool: each content is an embedded resource.
    Task<protocol::CallToolResult> read_resource(std::string uri, std::shared_ptr<CallFollower> follower = nullptr);
    // Completes once the resource has changed since the last time that it completed; the first time at once. `limit`:
    // for subscribing to it. Throws Error{tool_server_failed, limit_exceeded}.
    Task<void> resource_changed(std::string uri, Duration limit);
    // As a call of a tool: the structure is the result, with `messages`, and their blocks are the content.
    Task<protocol::CallToolResult> get_prompt(std::string name, RawJson arguments,
                                              std::shared_ptr<CallFollower> follower = nullptr);

    // Whether the server reported changed tools, resources or prompts since the last call.
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

    Client(std::shared_ptr<protocol::Connection> connection, Implementation ourselves, Clock& clock,
           std::shared_ptr<const ClientSurroundings> surroundings);

    Task<void> run();
    Task<void> negotiate(Instant deadline);
    Task<void> initialize(std::shared_ptr<Reply> probe, Instant deadline);
    bool take_modern(const Reply& reply);
    void subscribe();
    void on_progress(const ProgressParams& params);
    // What a server of the legacy era asks for.
    void take_requests();
    Task<RawJson> answer_question(RawJson params, std::string beside);
    // The one with this request, else the last that began; nullptr if none runs.
    std::shared_ptr<RunningCall> call_of(const std::string& request_id) const;
    void on_log(const LogMessageParams& params);
    // What a call sends each time, and how its result is read.
    struct CallRequest {
        std::string method;
        std::string members; // of the params
        protocol::CallToolResult (*read)(const RawJson& result);
    };
    Task<protocol::CallToolResult> call(CallRequest request, std::shared_ptr<CallFollower> follower);
    Task<protocol::CallToolResult> call_until_done(std::shared_ptr<RunningCall> call, CallRequest request);
    Task<RawJson> send_call(std::shared_ptr<RunningCall> call, std::string method, RawJson params);
    // Members of the params of the next request, with the answers to what the server asks for.
    Task<std::string> answers_to(std::shared_ptr<RunningCall> call, InputRequired asked);
    Task<void> end_call(std::shared_ptr<RunningCall> call);
    Task<void> subscribe_to(std::string uri, Duration limit);
    void on_resource_updated(const std::string& uri);
    // Follows a task to its end. When that is given up, the server is asked to cancel it.
    Task<protocol::CallToolResult> finish_task(std::shared_ptr<RunningCall> call, CallRequest request, ServerTask task);
    Task<protocol::CallToolResult> poll_task(std::shared_ptr<RunningCall> call, CallRequest request, ServerTask task);
    Task<ServerTask> get_task(std::shared_ptr<RunningCall> call, std::string id);
    // Answers what a task wants of the user and is not in `answered` yet.
    Task<void> update_task(std::shared_ptr<RunningCall> call, ServerTask task, std::set<std::string>* answered);
    std::string task_params(const std::string& id, const std::string& more = {}) const;
    void on_malformed_message(const protocol::Frame& frame, const Error& why);
    void abort_connection(std::string reason);

    std::shared_ptr<Reply> start_request(std::string method, RawJson params);
    Task<void> request_into(std::shared_ptr<Reply> reply, std::string method, RawJson params);
    // The complete result. Throws at `deadline`.
    Task<RawJson> request(std::string method, RawJson params, Instant deadline);
    // The `_meta` member of every request of the modern era, after `before`; empty in the legacy era, unless there is a
    // token for progress.
    // `more`: members of it, as JSON.
    std::string meta(std::string_view before, const std::string& more = {}) const;
    RawJson complete(const RawJson& result, std::string_view method) const;
    [[noreturn]] void rethrow(std::exception_ptr error, std::string_view method) const;

    protocol::Peer peer_;
    Implementation ourselves_;
    Clock& clock_;
    Era era_ = Era::legacy;
    std::string version_;
    std::optional<Implementation> server_info_;
    Features features_;
    bool tools_changed_ = false;
    std::size_t ignored_messages_ = 0;
    std::string broken_because_;
    std::uint64_t next_progress_token_ = 1;
    std::shared_ptr<const ClientSurroundings> surroundings_;            // or nullptr
    std::set<std::string> tasks_only_;                                  // tools that can be called as tasks only
    std::vector<std::shared_ptr<RunningCall>> running_;                 // calls, the last that began at the end
    std::map<std::uint64_t, std::shared_ptr<RunningCall>> in_progress_; // those that report it, by their token
    struct Subscription {
        bool changed = true;
        Condition moved;
    };
    std::map<std::string, std::shared_ptr<Subscription>> subscriptions_; // by the resource's address
    Event ended_;
    TaskScope tasks_;
};

} // namespace cellgate::mcp
