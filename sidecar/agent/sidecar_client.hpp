#pragma once
// `SidecarClient` is the connection of `cellgate mcp` to the sidecar: one client of role agent, which connects at its
// first use and again after the connection was lost. It runs code in sessions of its own, one for each language, which
// end with the connection. If no user is attached, an approval is shown to the MCP client's user, as an elicitation of
// the tool call that the action belongs to. Owned by the command, which awaits close().

#include "agent/tool_set.hpp"
#include "base/byte_stream.hpp"
#include "base/clock.hpp"
#include "base/scope_exit.hpp"
#include "base/sync.hpp"
#include "keep_alive.hpp"
#include "mcp/server.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/packages.hpp"
#include "protocol/messages/policy.hpp"
#include "protocol/messages/sessions.hpp"
#include "protocol/peer.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::agent {

class SidecarClient {
  public:
    // Opens a stream to the sidecar, after the handshake.
    using Connect = std::function<Task<std::unique_ptr<ByteStream>>()>;
    using OnOutput = std::function<void(const protocol::ExecuteOutputParams& output)>;

    using OnLine = std::function<void(const std::string& line)>;

    // `environment`: of the kernel of its session. `names`: of the tools' parameters, for errors of the sidecar.
    SidecarClient(Clock& clock, Connect connect, std::map<std::string, std::string> environment, ParameterNames names);
    SidecarClient(const SidecarClient&) = delete;
    SidecarClient& operator=(const SidecarClient&) = delete;

    // `on_behalf`: the agent's call. The first call has the agent's name, and whether it supports elicitation.
    template <class Method>
    Task<typename Method::Result> call(typename Method::Params params, std::shared_ptr<mcp::ToolCall> on_behalf) {
        const std::shared_ptr<protocol::Peer> peer = co_await connected(std::move(on_behalf));
        try {
            co_return co_await peer->call<Method>(std::move(params));
        } catch (protocol::RemoteError& error) {
            rename_parameter(error.message);
            throw;
        }
    }
    // The same for a method that may need an approval. One at a time, so that an approval has exactly one call.
    template <class Method>
    Task<typename Method::Result> call_with_approval(typename Method::Params params,
                                                     std::shared_ptr<mcp::ToolCall> on_behalf) {
        CallStatus status = status_of_request;
        std::shared_ptr<mcp::ToolCall> reporter = on_behalf;
        Task<typename Method::Result> called = call_in_turn<Method>(std::move(params), std::move(on_behalf));
        co_return co_await keep_alive(clock_, std::move(reporter), std::move(status), std::move(called));
    }
    // Installs packages. `on_line` receives pip's lines while it runs.
    Task<protocol::PackagesInstallResult> install(protocol::PackagesInstallParams params,
                                                  std::shared_ptr<mcp::ToolCall> on_behalf, OnLine on_line);
    // Runs code, with an id of its own where the caller gives none. `on_output` receives the output while it runs.
    Task<protocol::ExecuteResult> execute(protocol::ExecuteParams params, std::shared_ptr<mcp::ToolCall> on_behalf,
                                          OnOutput on_output);
    // The id of the agent's own session of a language, which is created if necessary.
    Task<std::string> own_session(std::optional<std::string> language, std::shared_ptr<mcp::ToolCall> on_behalf);
    // Creates another session; the environment and, where it has none, the id are ours.
    Task<protocol::SessionInfo> create_session(protocol::SessionCreateParams params,
                                               std::shared_ptr<mcp::ToolCall> on_behalf);
    // Whether that session was lost and recreated since the last call: the connection, or the sidecar, had ended.
    bool take_loss(const std::string& session);
    // Creates an own session again that a user has closed; false for any other one.
    Task<bool> renew(std::string session, std::shared_ptr<mcp::ToolCall> on_behalf);
    // Whether it is a session that this client created, by its id.
    bool owns(const std::string& session) const { return session.starts_with(id_); }
    // Its executions that have not ended; and the latest ones that have, or were refused, the last one first.
    std::vector<std::string> running_executions() const;
    std::vector<std::string> ended_executions() const;
    // Ends a session that this client created.
    Task<void> close_session(std::string session, std::shared_ptr<mcp::ToolCall> on_behalf);

    Clock& clock() { return clock_; }
    // Must be awaited.
    Task<void> close();

  private:
    struct OwnSession {
        std::string id;
        bool is_there = false;
        bool was_there = false;
        bool lost = false;
    };
    struct Running {
        std::shared_ptr<mcp::ToolCall> call;
        OnOutput on_output;
    };

    template <class Method>
    Task<typename Method::Result> call_in_turn(typename Method::Params params,
                                               std::shared_ptr<mcp::ToolCall> on_behalf) {
        const Mutex::Lock turn = co_await asking_turn_.lock();
        asking_ = on_behalf;
        const ScopeExit asked([this] { asking_ = nullptr; });
        co_return co_await call<Method>(std::move(params), std::move(on_behalf));
    }
    // At the beginning of an error's message.
    void rename_parameter(std::string& message) const;
    static Task<std::string> status_of_request();
    Task<std::string> status_of_execution(std::string id, std::shared_ptr<mcp::ToolCall> on_behalf);
    Task<std::shared_ptr<protocol::Peer>> connected(std::shared_ptr<mcp::ToolCall> on_behalf);
    Task<std::shared_ptr<protocol::Peer>> connect();
    Task<void> serve(std::shared_ptr<protocol::Peer> peer);
    Task<protocol::ApprovalElicitResult> elicit(protocol::ApprovalElicitParams params);
    std::shared_ptr<mcp::ToolCall> call_to_ask_in(const std::string& execution_id) const;

    Clock& clock_;
    Connect connect_;
    std::map<std::string, std::string> environment_;
    ParameterNames names_;
    std::shared_ptr<mcp::ToolCall> first_call_;
    std::shared_ptr<protocol::Peer> peer_;
    Mutex connecting_;
    Mutex creating_;
    const std::string id_;
    std::map<std::string, OwnSession> own_;    // by language
    int created_ = 0;                          // other sessions
    std::map<std::string, Running> running_;   // by the execution's id
    std::deque<std::string> latest_;           // executions
    std::map<std::string, OnLine> installing_; // by the token of the progress, as JSON
    std::shared_ptr<mcp::ToolCall> asking_;    // whose user is asked about an approval outside of an execution
    Mutex asking_turn_;
    TaskScope tasks_;
};

} // namespace cellgate::agent
