#pragma once
// `HttpClient` sends HTTP requests (libcurl on the loop: HTTP/1.1 and 2, TLS, the proxies that the environment names).
// Redirects are not followed: what a request carries is for the host that it names. Nothing compressed is asked for. A
// server's certificate is verified by the system's authorities, or those of the file that SSL_CERT_FILE names.

#include "async/loop.hpp"
#include "base/byte_stream.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellgate::async {

using HttpFields = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
    std::string method = "GET";
    std::string url; // http or https
    HttpFields fields;
    std::string body;
    // The host's, if they were looked up: no other one is connected to. A proxy looks up for itself.
    std::vector<std::string> addresses = {};
};

struct HttpHead {
    int status = 0;
    HttpFields fields; // names in lower case, in order

    // The first one of this name, which is in lower case.
    std::optional<std::string> field(std::string_view name) const;
};

// `HttpExchange` is one request and its answer. Destroying it gives the request up. One reader at a time; a cancelled
// read loses nothing.
class HttpExchange {
  public:
    struct Transfer;

    explicit HttpExchange(std::shared_ptr<Transfer> transfer);
    HttpExchange(const HttpExchange&) = delete;
    HttpExchange& operator=(const HttpExchange&) = delete;
    ~HttpExchange();

    // The head of the answer. Throws Error{internal_error} if none came: "cannot reach example.org: Connection
    // refused".
    Task<HttpHead> head();
    // The next bytes of the body; empty at its end. Throws Error{internal_error} when it ends before its end.
    Task<std::string> read();

  private:
    std::shared_ptr<Transfer> transfer_;
};

class HttpClient {
  public:
    static constexpr std::size_t max_head_bytes = std::size_t{64} << 10; // with what follows a body in chunks
    // Of a body. The server waits while that many were not read.
    static constexpr std::size_t max_unread_bytes = std::size_t{256} << 10;

    // Exchanges that still go on when it is destroyed end with an error.
    explicit HttpClient(Loop& loop);
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;
    ~HttpClient();

    // Throws Error{invalid_params} for another scheme, a broken URL, or a field that would break the request.
    std::unique_ptr<HttpExchange> start(HttpRequest request);
    // A connection to the host of `url`, through TLS and proxies as for requests to it, for a protocol that begins as
    // HTTP/1.1 does. It is to be closed before the client is destroyed. Throws Error{invalid_params}, and
    // Error{internal_error}: "cannot reach example.org: Connection refused".
    Task<std::unique_ptr<ByteStream>> connect(std::string url);

    struct Impl;

  private:
    std::shared_ptr<Impl> impl_;
};

} // namespace cellgate::async
