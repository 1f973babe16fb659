#include "agent/serve_http.hpp"

#include "agent_server.hpp"
#include "async/http_server.hpp"
#include "async/tcp.hpp"
#include "base/files.hpp"
#include "base/public_address.hpp"
#include "mcp/http_service.hpp"
#include "store/directories.hpp"
#include "token_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

namespace cellgate::agent {

namespace {

class AgentOverHttp final : public mcp::HttpAgent {
  public:
    AgentOverHttp(async::Loop* loop, std::shared_ptr<mcp::PostedConnection> connection, const AgentSettings& settings)
        : server_(loop, connection, settings) {
        server_.server().set_before_message(
            [connection](const std::string& beside) { connection->next_belongs_to(beside); });
    }
    Task<void> run() override { return server_.run(); }
    bool is_busy() const override { return server_.server().is_busy(); }

  private:
    AgentServer server_;
};

void require_usable(const HttpOptions& options) {
    const Host& host = options.endpoint.host;
    if (host.name == "0.0.0.0" || host.name == "::") {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected the host by which agents reach this machine, found {}", host.name));
    }
    if (options.certificate_file.empty() && !is_loopback(host)) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("{} is not this machine alone, so the token would be sent in plain text", host.name),
                    "give --tls-cert and --tls-key, or listen at 127.0.0.1");
    }
}

std::string read_pem(const std::string& path) {
    std::optional<std::string> text = read_file(path);
    if (!text) {
        throw system_error(ErrorCode::config_invalid, fmt::format("cannot read {}", path), errno);
    }
    return std::move(*text);
}

Task<async::HttpServerOptions> server_options(async::Loop* loop, HttpOptions options) {
    async::HttpServerOptions server;
    server.endpoint = options.endpoint;
    if (!options.endpoint.host.is_address) {
        const std::vector<Host> addresses = co_await async::resolve_host(*loop, options.endpoint.host);
        server.endpoint.host = addresses.front();
    }
    if (!options.certificate_file.empty()) {
        server.certificate = read_pem(options.certificate_file);
        server.key = read_pem(options.key_file);
    }
    co_return server;
}

std::string own_token_path(const Environment& environment, const Endpoint& served) {
    const std::string runtime = store::find_directories(environment).runtime;
    store::make_private_directory(runtime);
    return fmt::format("{}/mcp-{}.token", runtime, to_string(served));
}

Task<void> set_on_signal(async::Loop* loop, int signal, Event* ended) {
    co_await async::wait_for_signal(*loop, signal);
    ended->set();
}

Task<void> until_signalled(async::Loop* loop) {
    Event ended;
    TaskScope signals;
    signals.spawn(set_on_signal(loop, SIGTERM, &ended));
    signals.spawn(set_on_signal(loop, SIGINT, &ended));
    co_await ended.wait();
    signals.cancel();
    co_await signals.join();
}

Task<void> end(async::HttpServer* server, mcp::HttpService* service) {
    co_await server->close();
    co_await service->close();
}

} // namespace

Task<void> serve_agents_over_http(async::Loop* loop, AgentOptions options, HttpOptions http, Environment environment) {
    require_usable(http);
    const AgentSettings settings = read_agent_settings(std::move(options), environment);
    std::string token = http.token_file.empty() ? std::string() : read_token(http.token_file);
    const bool tls = !http.certificate_file.empty();
    async::HttpServerOptions listening = co_await server_options(loop, http);
    async::HttpServer server(*loop, std::move(listening));
    const Endpoint served{http.endpoint.host, server.port()};
    std::optional<OwnTokenFile> own_token;
    if (token.empty()) {
        own_token.emplace(own_token_path(environment, served));
        token = own_token->token();
    }
    mcp::HttpService service(loop->clock(), mcp::HttpGuard(served, tls, std::move(token)),
                             [loop, &settings](std::shared_ptr<mcp::PostedConnection> connection) {
                                 return std::make_unique<AgentOverHttp>(loop, std::move(connection), settings);
                             });
    Task<void> ending = end(&server, &service);
    std::exception_ptr error;
    try {
        server.serve(service);
        fmt::print(stderr, "cellgate: agents reach MCP at {}://{}{}\n", tls ? "https" : "http", to_string(served),
                   mcp::HttpService::path);
        fmt::print(stderr, "cellgate: requests need the token in {}, as Authorization: Bearer TOKEN\n",
                   own_token ? own_token->path() : http.token_file);
        co_await until_signalled(loop);
    } catch (const Error&) {
        error = std::current_exception();
    }
    co_await shielded(std::move(ending));
    if (error) {
        std::rethrow_exception(error);
    }
}

} // namespace cellgate::agent
