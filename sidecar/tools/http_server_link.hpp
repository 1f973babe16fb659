#pragma once
// `HttpServerLink` carries the messages of an MCP server at a URL, over Streamable HTTP or over HTTP+SSE.

#include "async/http.hpp"
#include "async/loop.hpp"
#include "mcp/http_transport.hpp"
#include "server_link.hpp"
#include "tools/config.hpp"

#include <memory>
#include <string>

namespace cellgate::tools {

class HttpServerLink final : public ServerLink {
  public:
    enum class Transport { streamable_http, http_sse };

    // Sends nothing yet.
    HttpServerLink(async::Loop& loop, Clock& clock, const ServerSpec& spec, const ServerDescription& described,
                   mcp::HttpEndpoint endpoint, Transport transport);

    std::shared_ptr<protocol::Connection> connection() override { return connection_; }
    Task<std::string> hint() override;
    Task<void> stop() override;
    Task<std::string> end() override;

  private:
    std::string url_;
    async::HttpClient http_;
    std::shared_ptr<mcp::HttpTransport> connection_;
};

} // namespace cellgate::tools
