#pragma once
// `ServerApi` is the REST interface of a Jupyter server (Jupyter Server, JupyterHub's, Kernel Gateway, Enterprise
// Gateway), as far as one kernel needs it: gateways refuse more than that, such as the list of kernels. Errors carry
// the server's own words. The token goes into one header and nowhere else.

#include "async/http.hpp"
#include "async/websocket.hpp"
#include "base/clock.hpp"
#include "base/task.hpp"

#include <string>
#include <vector>

namespace cellgate::jupyter {

struct ServerAddress {
    std::string url;   // as server_url() makes it
    std::string token; // may be empty
};

// The address without a slash at its end. Throws Error{config_invalid} for one that is not http or https, and for one
// with a query or a user, in which tokens are, and which would be shown and kept.
std::string server_url(std::string text);
// Its host, for texts: "example.org".
std::string server_host(const std::string& url);

struct ServerKernelspec {
    std::string name;
    std::string display_name;
    std::string language;
    bool is_default = false;
};

class ServerApi {
  public:
    ServerApi(async::HttpClient& http, Clock& clock, ServerAddress address);

    // The default one first, then by name.
    Task<std::vector<ServerKernelspec>> kernelspecs();
    // The new kernel's id. Throws Error{kernel_start_failed}.
    Task<std::string> start(std::string kernelspec);
    Task<void> interrupt(std::string kernel_id);
    Task<void> shut_down(std::string kernel_id);
    // The WebSocket of its channels. `session`: the same one gets what came while it was not connected.
    async::WebSocketRequest channels(const std::string& kernel_id, const std::string& session) const;
    // What a refusal of the server says: "403 Forbidden: Resource Limit".
    Error refusal(std::string_view what_failed, int status, const std::string& body) const;

    const std::string& host() const { return host_; }

  private:
    struct Answer {
        int status = 0;
        std::string body;
    };
    Task<Answer> call(std::string method, std::string path, std::string body);
    Task<Answer> exchange(async::HttpRequest request);
    Task<Answer> require(std::string what, std::string method, std::string path, std::string body);

    async::HttpClient& http_;
    Clock& clock_;
    ServerAddress address_;
    std::string host_;
};

} // namespace cellgate::jupyter
