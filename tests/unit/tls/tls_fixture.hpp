#pragma once
// `tls_fixture` is what the tests of TLS share: a pair of sockets as streams, both sides of a handshake, and other
// programs' sides.

#include "async/loop.hpp"
#include "async/process.hpp"
#include "async/tcp.hpp"
#include "async/tcp_listener.hpp"
#include "tls/tls_stream.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace cellgate::tls {

using Sockets = std::pair<std::unique_ptr<async::SocketStream>, std::unique_ptr<async::SocketStream>>;
// Connected over TCP on this machine.
Task<Sockets> connected_sockets(async::Loop* loop);

struct Streams {
    std::unique_ptr<TlsStream> server;
    std::unique_ptr<TlsStream> client;
    std::optional<HandshakeFailed> server_failure;
    std::optional<Error> client_failure;
};
struct Setup {
    std::shared_ptr<const Identity> identity;
    std::shared_ptr<TrustedRoots> roots;
    Endpoint server;
};
Setup setup_for(CertificateAuthority& authority, const std::string& endpoint);
Task<Streams> handshake_between(Sockets sockets, Setup setup);

Task<std::string> read_all(async::SocketStream* stream);
Task<std::string> read_at_least(async::SocketStream* stream, std::size_t bytes);

// `sh -c script`, with PATH and PORT.
async::Command program(const std::string& script, std::uint16_t port);

} // namespace cellgate::tls
