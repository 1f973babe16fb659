#pragma once
// `HttpTransport` is a connection to an MCP server over HTTP. Its owner awaits end() before destroying it.

#include "async/http.hpp"
#include "protocol/connection.hpp"

#include <string>

namespace cellgate::mcp {

struct HttpEndpoint {
    std::string url;
    async::HttpFields fields; // of every request, besides MCP's own
};

class HttpTransport : public protocol::Connection {
  public:
    // Closes it, ends all that is under way, and the server's session, if there is one.
    virtual Task<void> end() = 0;
};

} // namespace cellgate::mcp
