#pragma once
// An MCP server that offers tools, and nothing else, over a connection that somebody else made. It speaks both eras, as
// the client wishes: after `initialize` the legacy one (2024-11-05 to 2025-11-25), and for each request that describes
// itself the modern one (2026-07-28). All that a client says is untrusted. A tool call is answered exactly once, except
// that a cancelled one is not answered, as MCP has it; what a tool throws becomes a result with isError, in words.
// Knows nothing of what the tools do. Owned by whoever awaits run().
//
// A tool can put a question to the client's user (elicitation). The answer comes only as the answer to that question:
// in the legacy era to our request, in the modern one with the unguessable state that was handed out with it, once. A
// yes to a question that was withdrawn meanwhile answers no other one.

#include "base/clock.hpp"
#include "base/json_codec.hpp"
#include "mcp/implementation.hpp"
#include "protocol/connection.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "protocol/peer.hpp"
#include "protocol/tool_spec.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::mcp {

// One call of a tool, as its handler sees it.
struct ToolCall {
    virtual ~ToolCall() = default;
    // What the client says that it is. Not to be believed.
    virtual const Implementation& client() const = 0;
    // Tells the client that it goes on, if it wanted to be told.
    virtual void report(std::string message) = 0;
    // Whether the client can put a question to its user.
    virtual bool can_ask() const = 0;
    // Whether the user said yes to exactly this question. Cancelling withdraws it.
    virtual Task<bool> ask(std::string question) = 0;
};

struct Tool {
    using Handler = std::function<Task<protocol::CallToolResult>(RawJson arguments, std::shared_ptr<ToolCall> call)>;
    protocol::ToolSpec spec;
    Handler handler;
};

// A tool with typed arguments. `handler`: Task<CallToolResult>(Arguments, std::shared_ptr<ToolCall>).
template <class Arguments, class Handler>
Tool typed_tool(protocol::ToolSpec spec, Handler handler) {
    return Tool{std::move(spec), [handler](RawJson arguments, std::shared_ptr<ToolCall> call) {
                    return handler(from_json<Arguments>(arguments, "arguments"), std::move(call));
                }};
}

struct ServerDescription {
    Implementation ourselves;
    std::string instructions; // for the model: what the tools are good for
};

class Server {
  public:
    Server(std::shared_ptr<protocol::Connection> connection, ServerDescription description, std::vector<Tool> tools,
           Clock& clock);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();

    // Until the client's connection ends; then cancels what still runs and waits for it.
    Task<void> run();

  private:
    struct Call;
    struct Caller;
    struct Question;
    // A call that waits for the client to come back, and the question that it was shown.
    struct Suspended {
        std::shared_ptr<Call> call;
        std::shared_ptr<Question> shown;
    };

    Caller caller_of(const RawJson& params) const;
    RawJson initialize(const RawJson& params);
    RawJson discover(const RawJson& params) const;
    RawJson list_tools(const RawJson& params) const;
    Task<RawJson> call_tool(RawJson params);
    std::shared_ptr<Call> start(const RawJson& params, Caller caller);
    std::shared_ptr<Call> resume(const RawJson& params, Caller caller, const std::string& state);
    Task<RawJson> follow(std::shared_ptr<Call> call);
    static Task<void> end_of(std::shared_ptr<Call> call);
    RawJson suspend(std::shared_ptr<Call> call);
    Task<void> run_tool(std::shared_ptr<Call> call, const Tool* tool, RawJson arguments);
    Task<void> give_up_later(std::string state);

    protocol::Peer peer_;
    ServerDescription description_;
    std::vector<Tool> tools_;
    Clock& clock_;
    std::shared_ptr<const Caller> legacy_;       // once it said `initialize`
    std::map<std::string, Suspended> suspended_; // by the state that the client was given
    TaskScope tasks_;
};

} // namespace cellgate::mcp
