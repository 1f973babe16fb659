#pragma once
// `SseConnection` carries the messages of an MCP client over HTTP+SSE, the transport of 2024-11-05: a stream of events
// has all that the server says, beginning with the URL to which messages are sent. That URL has to be of the same
// origin. The connection ends with the stream.

#include "async/http.hpp"
#include "base/sync.hpp"
#include "mcp/http_transport.hpp"

#include <deque>
#include <string>

namespace cellgate::mcp {

// Where `reference` leads from `url`. Throws Error{tool_server_failed} for another origin.
std::string same_origin_url(const std::string& url, const std::string& reference);

class SseConnection final : public HttpTransport {
  public:
    // `http` must outlive it.
    SseConnection(async::HttpClient& http, HttpEndpoint endpoint) : http_(http), endpoint_(std::move(endpoint)) {}

    // A request that failed arrives as a frame with what happened.
    Task<std::optional<protocol::Frame>> receive() override;
    void send(std::string message) override;
    std::size_t queued_bytes() const override { return queued_bytes_; }
    Task<void> drained(std::size_t below) override;
    void close() override;
    Task<void> end() override;

  private:
    Task<void> listen();
    Task<void> read_events();
    // Sends what is queued, in order.
    Task<void> post_all();
    Task<void> post(std::string message);
    void fail_queued(std::exception_ptr why);

    async::HttpClient& http_;
    HttpEndpoint endpoint_;
    std::string post_url_; // empty until the server has named it
    std::deque<std::string> queued_;
    std::size_t queued_bytes_ = 0;
    std::deque<protocol::Frame> arrived_;
    Condition changed_;
    bool listening_ = false;
    bool closed_ = false;
    TaskScope tasks_;
};

} // namespace cellgate::mcp
