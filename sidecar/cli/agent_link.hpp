#pragma once
// What `cellgate mcp` says to the sidecar: one client of role agent, which connects when it is first needed and again
// after the connection ended. Runs code in a session of its own, which goes with the connection. Where no person is
// attached, what an action shows is put to the MCP client's user, as a question of the call that the action belongs to.
// Owned by the command, which awaits close().

#include "base/byte_stream.hpp"
#include "base/clock.hpp"
#include "mcp/server.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/packages.hpp"
#include "protocol/messages/policy.hpp"
#include "protocol/messages/sessions.hpp"
#include "protocol/peer.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace cellgate::cli {

class AgentLink {
  public:
    // Gives a stream to the sidecar on which the protocol begins.
    using Connect = std::function<Task<std::unique_ptr<ByteStream>>()>;
    using OnOutput = std::function<void(const protocol::ExecuteOutputParams& output)>;

    using OnLine = std::function<void(const std::string& line)>;

    // `environment`: of the kernel of its session.
    AgentLink(Clock& clock, Connect connect, std::map<std::string, std::string> environment);
    AgentLink(const AgentLink&) = delete;
    AgentLink& operator=(const AgentLink&) = delete;

    // `on_behalf`: the agent's call. The first one says what the agent calls itself, and whether its user can be asked.
    template <class Method>
    Task<typename Method::Result> call(typename Method::Params params, std::shared_ptr<mcp::ToolCall> on_behalf) {
        const std::shared_ptr<protocol::Peer> peer = co_await connected(std::move(on_behalf));
        co_return co_await peer->call<Method>(std::move(params));
    }
    // The same for what may ask something. One at a time, so that it is known whose question it is.
    template <class Method>
    Task<typename Method::Result> call_that_asks(typename Method::Params params,
                                                 std::shared_ptr<mcp::ToolCall> on_behalf) {
        const Turn turn = co_await take_turn(on_behalf);
        co_return co_await call<Method>(std::move(params), std::move(on_behalf));
    }
    // Installs packages. `on_line` is told pip's lines while it runs.
    Task<protocol::PackagesInstallResult> install(protocol::PackagesInstallParams params,
                                                  std::shared_ptr<mcp::ToolCall> on_behalf, OnLine on_line);
    // Runs code. `on_output` is told while it runs.
    Task<protocol::ExecuteResult> execute(protocol::ExecuteParams params, std::shared_ptr<mcp::ToolCall> on_behalf,
                                          OnOutput on_output);
    // The id of the agent's own session, which exists now.
    Task<std::string> own_session(std::shared_ptr<mcp::ToolCall> on_behalf);
    // Whether that had to be made anew, which the agent does not know: its connection, or the sidecar, was gone. Once.
    bool take_loss() { return std::exchange(lost_, false); }

    Clock& clock() { return clock_; }
    // Must be awaited.
    Task<void> close();

  private:
    // What asks outside of an execution, from when it begins until this goes.
    class Turn {
      public:
        Turn(AgentLink& link, std::shared_ptr<mcp::ToolCall> call) : link_(&link) { link.asking_ = std::move(call); }
        Turn(Turn&& other) noexcept : link_(std::exchange(other.link_, nullptr)) {}
        Turn& operator=(Turn&&) = delete;
        ~Turn() {
            if (link_ != nullptr) {
                link_->asking_ = nullptr;
                link_->turn_ended_.set();
            }
        }

      private:
        AgentLink* link_;
    };
    struct Running {
        std::shared_ptr<mcp::ToolCall> call;
        OnOutput on_output;
    };

    Task<Turn> take_turn(std::shared_ptr<mcp::ToolCall> call);
    Task<std::shared_ptr<protocol::Peer>> connected(std::shared_ptr<mcp::ToolCall> on_behalf);
    Task<std::shared_ptr<protocol::Peer>> connect();
    Task<void> serve(std::shared_ptr<protocol::Peer> peer);
    Task<protocol::ApprovalElicitResult> elicit(protocol::ApprovalElicitParams params);

    Clock& clock_;
    Connect connect_;
    std::map<std::string, std::string> environment_;
    std::shared_ptr<mcp::ToolCall> first_call_;
    std::shared_ptr<protocol::Peer> peer_;
    std::shared_ptr<Event> connecting_;
    std::string session_id_;
    bool has_session_ = false;
    bool had_session_ = false;
    bool lost_ = false;
    std::map<std::string, Running> running_;   // by the execution's id
    std::map<std::string, OnLine> installing_; // by the token of the progress, as JSON
    std::shared_ptr<mcp::ToolCall> asking_;
    Event turn_ended_;
    TaskScope tasks_;
};

} // namespace cellgate::cli
