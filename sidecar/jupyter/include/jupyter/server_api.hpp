#pragma once
// `ServerApi` is the REST interface of a Jupyter server (Jupyter Server, JupyterHub's, Kernel Gateway, Enterprise
// Gateway), as far as one kernel needs it: gateways refuse more than that, such as the list of kernels. Errors carry
// the server's own words. The token goes into one header and nowhere else.

#include "async/http.hpp"
#include "async/websocket.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/task.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>
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

// What a server answered in place of what was asked for.
struct ServerRefused : Error {
    ServerRefused(int status_, std::string message, std::string hint)
        : Error(ErrorCode::kernel_start_failed, std::move(message), std::move(hint)), status(status_) {}
    // Jupyter Server answers a wrong token with 403 like all else that it does not allow.
    bool may_want_token() const { return status == 401 || status == 403; }
    int status;
};

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
    // The new kernel's id. Throws Error{kernel_not_found} for a kernelspec that the server does not have.
    // `environment`: gateways pass the variables KERNEL_… to the kernel and decide by them; Jupyter Server ignores
    // them.
    Task<std::string> start(std::string kernelspec, Environment environment);
    Task<void> interrupt(std::string kernel_id);
    Task<void> shut_down(std::string kernel_id);
    // The WebSocket of its channels. `session`: the same one gets what came while it was not connected.
    async::WebSocketRequest channels(const std::string& kernel_id, const std::string& session) const;
    ServerRefused refusal(std::string_view what_failed, int status, const std::string& body) const;

    const std::string& host() const { return host_; }

  private:
    struct Answer {
        int status = 0;
        std::string body;
        bool is_success() const { return status >= 200 && status < 300; }
    };
    Task<void> require_kernelspec(std::string wanted);
    Task<Answer> call(std::string method, std::string path, std::string body);
    Task<Answer> exchange(async::HttpRequest request);
    Task<Answer> require(std::string what, std::string method, std::string path, std::string body);

    async::HttpClient& http_;
    Clock& clock_;
    ServerAddress address_;
    std::string host_;
};

// The token for a server. `refusal`: what the server said to the one before, or to none.
using TokenSource = std::function<Task<std::string>(std::optional<std::string> refusal)>;
template <class T>
using ServerUse = std::function<Task<T>(ServerAddress address)>;

// What `use` gives. Where the server wants a token, once more with each other one, until the source has none.
template <class T>
Task<T> use_server(std::string url, TokenSource tokens, ServerUse<T> use) {
    std::optional<std::string> refusal;
    while (true) {
        ServerAddress address;
        address.url = url;
        address.token = co_await tokens(std::move(refusal));
        try {
            co_return co_await use(std::move(address));
        } catch (const ServerRefused& refused) {
            if (!refused.may_want_token()) {
                throw;
            }
            refusal = refused.message;
        }
    }
}

} // namespace cellgate::jupyter
