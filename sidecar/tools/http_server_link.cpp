#include "http_server_link.hpp"

#include "base/escape_unprintable.hpp"
#include "mcp/http_connection.hpp"
#include "mcp/sse_connection.hpp"

#include <fmt/format.h>

namespace cellgate::tools {

HttpServerLink::HttpServerLink(async::Loop& loop, Clock& clock, const ServerSpec& spec,
                               const ServerDescription& described, mcp::HttpEndpoint endpoint, Transport transport)
    : url_(*spec.config.url), http_(loop) {
    if (transport == Transport::http_sse) {
        connection_ = std::make_shared<mcp::SseConnection>(http_, std::move(endpoint));
    } else {
        connection_ = std::make_shared<mcp::HttpConnection>(http_, clock, std::move(endpoint));
    }
    name_ = spec.name;
    identity_ = described.identity;
}

Task<std::string> HttpServerLink::hint() {
    co_return std::string("Check that an MCP server is at that URL, and that it can be reached from here.");
}

Task<void> HttpServerLink::stop() {
    connection_->close();
    co_return;
}

Task<std::string> HttpServerLink::end() {
    co_await connection_->end();
    // As it is configured: what was put in for variables may be secret.
    co_return fmt::format("it was at {}", escape_unprintable(url_));
}

} // namespace cellgate::tools
