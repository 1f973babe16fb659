#pragma once
// `HttpGuard` decides by the head of a request whether it may reach the MCP server: it must name the server as its
// host, come from no web page of another origin, and carry the token. A page that has its name resolve to this machine
// (DNS rebinding) does neither.

#include "async/http_server.hpp"
#include "base/host.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::mcp {

class HttpGuard {
  public:
    // `served`: the host by which clients reach it, and the port. `tls`: whether it is served over HTTPS. `token`: not
    // empty.
    HttpGuard(const Endpoint& served, bool tls, std::string token);

    // 403 for a foreign host or origin, 401 without the token; nothing for a request that may pass.
    std::optional<async::ServedReply> refuse(const async::ServedRequest& head) const;

  private:
    bool is_own(std::string_view authority) const;
    bool is_own_origin(std::string_view origin) const;

    std::vector<Endpoint> own_;
    bool tls_;
    std::string token_;
};

} // namespace cellgate::mcp
