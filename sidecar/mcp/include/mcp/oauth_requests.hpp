#pragma once
// `OAuthRequests` sends the requests of a login. Where they go was named by the MCP server, so they are held to what a
// server of the public network may have cellgate reach: no address of this machine, of a private network or of a
// cloud's metadata is connected to, unless the MCP server is on such a network itself (never a cloud's metadata).
// Names are looked up once, and the judged addresses are the ones that are connected to, except through a proxy, which
// looks up for itself. Nothing is redirected. An answer is at most 1 MiB, and has to come within 30 seconds.

#include "async/http.hpp"
#include "async/loop.hpp"
#include "base/clock.hpp"
#include "mcp/web_address.hpp"

#include <memory>
#include <string>

namespace cellgate::mcp {

struct OAuthAnswer {
    int status = 0;
    std::string body;

    bool succeeded() const { return status >= 200 && status < 300; }
};

class OAuthRequests {
  public:
    // `loop` and `clock` outlive it. `server_url` is the MCP server's.
    OAuthRequests(async::Loop& loop, Clock& clock, std::string server_url);

    // Throw Error{tool_server_failed} for a place that is not asked, a redirect, and an answer that is too long or does
    // not come. An answer that is an error is returned.
    Task<OAuthAnswer> get(std::string url);
    Task<OAuthAnswer> post(std::string url, std::string content_type, std::string body, std::string authorization);

  private:
    Task<OAuthAnswer> send(async::HttpRequest request);
    Task<OAuthAnswer> exchange(async::HttpRequest request);
    // Sets the addresses to connect to.
    Task<async::HttpRequest> judged(async::HttpRequest request);
    // What the MCP server's own network is, in the words of what_is_not_public(): empty if it is the public one.
    Task<std::string> own_network();

    async::Loop& loop_;
    Clock& clock_;
    std::string server_url_;
    async::HttpClient http_;
};

} // namespace cellgate::mcp
