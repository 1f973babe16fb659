#include "tls_fixture.hpp"

#include <doctest/doctest.h>

#include <stdlib.h>

namespace cellgate::tls {

namespace {

Task<void> keep_accepted(async::TcpListener* listener, std::unique_ptr<async::SocketStream>* accepted) {
    *accepted = co_await listener->accept();
}

Task<void> keep_server(std::unique_ptr<async::SocketStream> below, std::shared_ptr<const Identity> identity,
                       Streams* streams) {
    try {
        std::string early;
        streams->server = co_await accept_tls(std::move(below), std::move(early), std::move(identity));
    } catch (const HandshakeFailed& error) {
        streams->server_failure = error;
    }
}

Task<void> keep_client(std::unique_ptr<async::SocketStream> below, Setup setup, Streams* streams) {
    try {
        streams->client = co_await connect_tls(std::move(below), setup.server, setup.roots);
    } catch (const Error& error) {
        streams->client_failure = error;
    }
}

} // namespace

Task<Sockets> connected_sockets(async::Loop* loop) {
    async::TcpListener listener(*loop, 0);
    TaskScope scope;
    Sockets sockets;
    scope.spawn(keep_accepted(&listener, &sockets.first));
    Endpoint endpoint;
    endpoint.host = *parse_host("127.0.0.1");
    endpoint.port = listener.port();
    sockets.second = co_await async::connect_tcp(*loop, endpoint);
    co_await scope.join();
    listener.close();
    co_return sockets;
}

Setup setup_for(CertificateAuthority& authority, const std::string& endpoint) {
    const Endpoint server = *parse_endpoint(endpoint, std::nullopt);
    return {authority.identity_for(server.host), std::make_shared<TrustedRoots>(authority.certificate_pem()), server};
}

Task<Streams> handshake_between(Sockets sockets, Setup setup) {
    Streams streams;
    TaskScope scope;
    scope.spawn(keep_server(std::move(sockets.first), setup.identity, &streams));
    scope.spawn(keep_client(std::move(sockets.second), setup, &streams));
    co_await scope.join();
    co_return streams;
}

Task<std::string> read_all(async::SocketStream* stream) {
    std::string all;
    while (true) {
        const std::string bytes = co_await stream->read();
        if (bytes.empty()) {
            co_return all;
        }
        all += bytes;
    }
}

Task<std::string> read_at_least(async::SocketStream* stream, std::size_t bytes) {
    std::string all;
    while (all.size() < bytes) {
        const std::string more = co_await stream->read();
        REQUIRE(!more.empty());
        all += more;
    }
    co_return all;
}

async::Command program(const std::string& script, std::uint16_t port) {
    async::Command command;
    command.argv = {"sh", "-c", script};
    command.environment["PATH"] = ::getenv("PATH");
    command.environment["PORT"] = std::to_string(port);
    return command;
}

} // namespace cellgate::tls
