#pragma once
// `server_transport` is a KernelTransport over the WebSocket of a Jupyter server. A cut connection is made again, later
// and later, for as long as the server has the kernel: under the same session the server sends what came meanwhile.
// While it is cut only the answer to a prompt is kept; everything else is asked again by who asked, or repeated.

#include "async/http.hpp"
#include "jupyter/kernel_transport.hpp"
#include "jupyter/server_api.hpp"

#include <functional>

namespace cellgate::jupyter {

// `server` outlives it. `on_gone` receives why the kernel is gone, by the server's word; called once.
std::unique_ptr<KernelTransport> server_transport(async::Loop& loop, async::HttpClient& http, const ServerApi& server,
                                                  std::string kernel_id,
                                                  std::function<void(std::string cause)> on_gone);

} // namespace cellgate::jupyter
