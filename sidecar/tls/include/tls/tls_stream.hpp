#pragma once
// `TlsStream` is TLS 1.2 or 1.3 over a stream; accept_tls() makes its server's side, connect_tls() its client's. It
// owns the stream below. A write is encrypted at once, in records of 16 KiB, about a millisecond for each MiB, and
// waits as ciphertext in the queue of the stream below: write_queue_size() and drained() are that stream's. Nothing is
// renegotiated. The time limits of a handshake are the caller's: it can be cancelled, and then closes the stream below.

#include "async/stream.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "tls/certificate_authority.hpp"
#include "tls/trusted_roots.hpp"

#include <memory>
#include <string>

namespace cellgate::tls {

struct TlsStream : async::SocketStream {
    // After the end was read: it came without close_notify, so something may be missing before it.
    virtual bool truncated() const = 0;
    // The server asked for a certificate of the client, which has none.
    virtual bool wanted_certificate() const = 0;
    // "http/1.1", or empty when none was agreed on.
    virtual std::string application_protocol() const = 0;
    // The handshake went on with an earlier session of the same server.
    virtual bool resumed() const = 0;
};

// Error{invalid_request} of accept_tls().
struct HandshakeFailed : Error {
    HandshakeFailed(std::string message, bool by_distrust);
    bool distrusted; // the client's alert says that it does not take the certificate
};

// The server's side; `early` are bytes that were read from the client already. Takes http/1.1 where ALPN offers it,
// else goes on without ALPN. Throws HandshakeFailed; its message says what failed.
Task<std::unique_ptr<TlsStream>> accept_tls(std::unique_ptr<async::SocketStream> below, std::string early,
                                            std::shared_ptr<const Identity> identity);

// The client's side: verifies the server's certificate by `roots`, for the host of `server`. Throws
// Error{internal_error}: "the certificate of api.example.org:443 is not trusted: self-signed certificate in certificate
// chain".
Task<std::unique_ptr<TlsStream>> connect_tls(std::unique_ptr<async::SocketStream> below, Endpoint server,
                                             std::shared_ptr<TrustedRoots> roots);

} // namespace cellgate::tls
