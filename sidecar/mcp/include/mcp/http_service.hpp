#pragma once
// `HttpService` is the server's side of MCP's Streamable HTTP transport, in both eras, at the path /mcp. It guards, and
// hands each message to the agent that it is for: a session of the legacy era has one of its own, and so has each name
// of a client of the modern era, in which requests stand for themselves. Its owner awaits close() before destroying it,
// after the HTTP server is closed.
//
// A request whose answer is not there at once is answered by a stream of events. When its client is gone, a call of the
// legacy era goes on and its result is lost, since streams cannot be resumed; one of the modern era is cancelled.

#include "async/http_server.hpp"
#include "base/clock.hpp"
#include "mcp/client.hpp"
#include "mcp/http_guard.hpp"
#include "mcp/posted_connection.hpp"
#include "protocol/message.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace cellgate::mcp {

// An MCP server for one client.
struct HttpAgent {
    virtual ~HttpAgent() = default;
    // Until its connection ends.
    virtual Task<void> run() = 0;
    // Whether calls of its go on, also such that no request waits for.
    virtual bool is_busy() const = 0;
};

class HttpService final : public async::HttpHandler {
  public:
    using MakeAgent = std::function<std::unique_ptr<HttpAgent>(std::shared_ptr<PostedConnection>)>;

    static constexpr std::string_view path = "/mcp";
    static constexpr std::size_t max_agents = 64; // further ones end the one that was not used for longest

    HttpService(Clock& clock, HttpGuard guard, MakeAgent make_agent);
    HttpService(const HttpService&) = delete;
    HttpService& operator=(const HttpService&) = delete;

    std::optional<async::ServedReply> refuse(const async::ServedRequest& head) override;
    Task<void> answer(async::ServedRequest request, std::shared_ptr<async::HttpResponder> responder) override;
    // Ends all agents.
    Task<void> close();

  private:
    struct Agent {
        std::shared_ptr<PostedConnection> connection;
        std::unique_ptr<HttpAgent> server;
        Instant used;

        bool is_in_use() const { return connection->is_awaited() || server->is_busy(); }
    };
    using Key = std::pair<Era, std::string>; // a session's id, or a client's name

    async::ServedReply end_session(const async::ServedRequest& request);
    Task<void> answer_message(async::ServedRequest request, protocol::Message message,
                              std::shared_ptr<async::HttpResponder> responder);
    // `begins`: a session, by `initialize`.
    Task<void> answer_request(Key key, std::shared_ptr<Agent> agent, bool begins, protocol::Message message,
                              std::shared_ptr<async::HttpResponder> responder);
    Task<void> stream(std::shared_ptr<PostedConnection> connection, std::shared_ptr<PostedConnection::Stream> stream,
                      std::shared_ptr<async::HttpResponder> responder);
    std::shared_ptr<Agent> find(const Key& key);
    // Nothing if there are too many, and all are in use.
    std::shared_ptr<Agent> add(const Key& key);
    void remove(const Key& key);
    Task<void> run(Key key, std::shared_ptr<Agent> agent);
    Task<void> expire();

    Clock& clock_;
    HttpGuard guard_;
    MakeAgent make_agent_;
    std::map<Key, std::shared_ptr<Agent>> agents_;
    TaskScope running_;
    TaskScope expiry_;
};

} // namespace cellgate::mcp
