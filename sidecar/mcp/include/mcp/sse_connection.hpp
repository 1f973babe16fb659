#pragma once
// `SseConnection` carries the messages of an MCP client over HTTP+SSE, the transport of 2024-11-05: a stream of events
// has all that the server says, beginning with the URL to which messages are sent. That URL has to be of the same
// origin. The connection ends with the stream.

#include "async/http.hpp"
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

    void send(std::string message) override;
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
    bool listening_ = false;
};

} // namespace cellgate::mcp
