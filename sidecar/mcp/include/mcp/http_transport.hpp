#pragma once
// `HttpTransport` is a connection to an MCP server over HTTP: what both transports share. Its owner awaits end() before
// destroying it.

#include "async/http.hpp"
#include "base/sync.hpp"
#include "mcp/authorizer.hpp"
#include "protocol/connection.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

namespace cellgate::mcp {

struct HttpEndpoint {
    std::string url;
    async::HttpFields fields;                         // of every request, besides MCP's own
    std::shared_ptr<Authorizer> authorizer = nullptr; // asked for each request, if there is one
};

class HttpTransport : public protocol::Connection {
  public:
    Task<std::optional<protocol::Frame>> receive() final;
    std::size_t queued_bytes() const final { return queued_bytes_; }
    Task<void> drained(std::size_t below) final;
    void close() final;
    // Closes it, ends all that is under way, and the server's session, if there is one.
    virtual Task<void> end() = 0;

  protected:
    // Throws Error{limit_exceeded} for a message that is too long to be sent.
    static void require_sendable(const std::string& message);
    struct Answer {
        std::unique_ptr<async::HttpExchange> exchange;
        async::HttpHead head;
    };
    // Sends a request with what authorizes it, and again where it is refused and there is another token by then. Throws
    // as Authorizer::refused(). `http` must outlive it.
    static Task<Answer> send_authorized(async::HttpClient& http, std::shared_ptr<Authorizer> authorizer,
                                        async::HttpRequest request);
    void push(protocol::Frame frame);
    // To our request with this id (JSON): it failed.
    void push_failure(std::string id, std::exception_ptr why) { push({std::move(id), {}, false, std::move(why), {}}); }
    bool is_closed() const { return closed_; }

    std::size_t queued_bytes_ = 0; // of messages that the server has not taken
    Condition changed_;
    TaskScope tasks_; // cancelled by close()

  private:
    std::deque<protocol::Frame> arrived_;
    bool closed_ = false;
};

} // namespace cellgate::mcp
