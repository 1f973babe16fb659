#pragma once
// `Server` is an MCP server that offers tools and resources, over an existing connection. It speaks both eras, as the
// client chooses: the legacy one after `initialize` (2024-11-05 to 2025-11-25), and the modern one for each request
// that describes itself (2026-07-28). The client is untrusted. A tool call is answered exactly once, except that a
// cancelled one is not answered, as MCP requires; an exception of a tool becomes a result with isError. The server does
// not know what the tools do. Owned by the caller of run().
//
// A tool can ask the client's user a question (elicitation). Only the answer to that question counts: in the legacy era
// the response to our request, in the modern one an answer with the unguessable state that was issued with the
// question, once. A yes to a question that was withdrawn meanwhile does not answer another one.
//
// A call can become a task, for which the client comes back: in the legacy era when the client wants it (2025-11-25),
// in the modern one after a few seconds, if the client supports the tasks extension. Tasks end with the connection.

#include "base/clock.hpp"
#include "base/json_codec.hpp"
#include "mcp/era.hpp"
#include "mcp/implementation.hpp"
#include "protocol/connection.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "protocol/peer.hpp"
#include "protocol/tool_spec.hpp"

#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::mcp {

struct ConsentRequest {
    std::string text;
    bool until_end = false; // whether the user may say yes for as long as the code runs that asks
};

// The user's answer to it. Closing the question is no answer, and accepting the form alone is no yes.
enum class Consent { declined, cancelled, not_ticked, once, until_end };

inline bool is_yes(Consent consent) {
    return consent == Consent::once || consent == Consent::until_end;
}

// One call of a tool, for its handler.
struct ToolCall {
    virtual ~ToolCall() = default;
    // The client's own name. Untrusted.
    virtual const Implementation& client() const = 0;
    // Sends a progress notification, if the client asked for progress.
    virtual void report(std::string message) = 0;
    // Whether the client supports elicitation.
    virtual bool can_ask() const = 0;
    // The user's answer to exactly this question. Cancelling withdraws it.
    virtual Task<Consent> ask(ConsentRequest question) = 0;
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

// A JSON text at `cellgate://NAME`, which a client reads.
struct Resource {
    std::string name;
    std::string title;
    std::string description;
    std::function<Task<RawJson>(std::shared_ptr<ToolCall> call)> read; // the call asks nothing
};

struct ServerDescription {
    Implementation ourselves;
    std::string instructions; // for the model: the purpose of the tools
    std::vector<Resource> resources = {};
};

class Server {
  public:
    Server(std::shared_ptr<protocol::Connection> connection, ServerDescription description, std::vector<Tool> tools,
           Clock& clock);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();

    // For a connection that has to know to which request a message of ours belongs: called with what was beside that
    // request (see protocol::Frame), right before a call sends a notification or a question.
    void set_before_message(std::function<void(const std::string& beside)> callback) {
        before_message_ = std::move(callback);
    }

    // Whether calls go on: those of requests that wait, of streams that were dropped, and tasks.
    bool is_busy() const { return tasks_.running() > 0; }

    // Runs until the client's connection ends; then cancels the running calls and waits for them.
    Task<void> run();

  private:
    struct Call;
    struct Caller;
    struct Elicitation;
    // A call that waits for the client's next request, and the question that the client was given.
    struct Suspended {
        std::shared_ptr<Call> call;
        std::shared_ptr<Elicitation> shown;
    };

    Caller caller_of(const RawJson& params) const;
    RawJson initialize(const RawJson& params);
    RawJson discover(const RawJson& params) const;
    RawJson list_tools(const RawJson& params) const;
    std::string_view offered_capabilities() const; // members of `capabilities`
    void add_resource_requests();
    Task<RawJson> list_resources(RawJson params) const;
    Task<RawJson> read_resource(RawJson params);
    Task<RawJson> call_tool(RawJson params, std::string beside);
    std::shared_ptr<Call> start(const RawJson& params, Caller caller);
    std::shared_ptr<Call> resume(const RawJson& params, Caller caller, const std::string& state);
    Task<void> end_tasks();
    Task<RawJson> follow(std::shared_ptr<Call> call);
    Task<RawJson> answer_of(std::shared_ptr<Call> call);
    Task<void> end_patience(std::shared_ptr<Call> call);
    static Task<void> end_of(std::shared_ptr<Call> call);
    RawJson suspend(std::shared_ptr<Call> call);
    Task<void> run_tool(std::shared_ptr<Call> call, const Tool* tool, RawJson arguments);
    Task<void> expire(std::string state);

    void add_task_requests();
    // False if there are too many.
    bool make_task(const std::shared_ptr<Call>& call);
    static std::string_view status_of(const Call& call);
    static std::string task_members(const Call& call);
    static RawJson created_task(const Call& call);
    // Throws what a client gets that cannot have such a request. `only`: the era that has it; both if there is none.
    Caller task_caller(const RawJson& params, std::string_view method, std::optional<Era> only) const;
    std::shared_ptr<Call> find_task(const RawJson& params, Era era) const;
    Task<RawJson> get_task(RawJson params);
    Task<RawJson> update_task(RawJson params);
    Task<RawJson> cancel_task(RawJson params);
    Task<RawJson> list_tasks(RawJson params);
    Task<RawJson> task_result(RawJson params, std::string beside);
    Task<void> show(std::shared_ptr<Call> call, std::shared_ptr<Elicitation> asked);
    Task<void> ask_client(std::shared_ptr<Call> call, std::shared_ptr<Elicitation> asked, std::exception_ptr* problem);

    protocol::Peer peer_;
    ServerDescription description_;
    std::vector<Tool> tools_;
    Clock& clock_;
    std::function<void(const std::string&)> before_message_ = [](const std::string&) {};
    std::shared_ptr<const Caller> legacy_;         // after `initialize`
    std::map<std::string, Suspended> suspended_;   // by the state that the client got
    std::deque<std::shared_ptr<Call>> task_calls_; // the oldest first
    TaskScope tasks_;
};

} // namespace cellgate::mcp
