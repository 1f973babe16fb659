#pragma once
// `TlsConnection` is OpenSSL's state of one connection, between two buffers in memory, over a stream. Private to the
// module; the `TlsStream` that callers have holds it, as does each read that waits.

#include "openssl_error.hpp"
#include "openssl_library.hpp"
#include "tls/tls_stream.hpp"

#include <optional>
#include <string_view>

namespace cellgate::tls {

// What both sides have: TLS 1.2 at least, no renegotiation, no buffers while nothing is read or written.
void set_common_options(SSL_CTX* context);

class TlsConnection {
  public:
    struct Server {
        std::string name; // "api.example.org:443"
        std::shared_ptr<TrustedRoots> roots;
    };

    // `server` is there on the client's side.
    TlsConnection(SSL_CTX* context, std::unique_ptr<async::SocketStream> below, std::optional<Server> server);
    ~TlsConnection();

    SSL* ssl() const { return ssl_.get(); }
    async::SocketStream& below() const { return *below_; }
    bool truncated() const { return truncated_; }
    bool wanted_certificate() const { return wanted_certificate_; }

    void note_wanted_certificate() { wanted_certificate_ = true; }
    // Takes ownership.
    void keep_session(SSL_SESSION* session);

    struct Failure {
        OpenSslErrors errors;
        bool ended = false; // the stream below has
    };
    // Nothing when it is complete. The caller writes and reads afterwards.
    static Task<std::optional<Failure>> handshake(std::shared_ptr<TlsConnection> self, std::string early);
    static Task<std::string> read(std::shared_ptr<TlsConnection> self);
    void write(std::string_view bytes);
    void close_output();
    void close();
    void abort();

  private:
    void feed(std::string_view ciphertext);
    void flush();
    std::string decrypt(); // what is there, up to a bound
    void stop(int result); // what ended SSL_read_ex

    Owned<SSL> ssl_;
    BIO* incoming_ = nullptr; // ssl_'s
    BIO* outgoing_ = nullptr;
    std::unique_ptr<async::SocketStream> below_;
    std::optional<Server> server_;
    bool output_open_ = true;
    bool closed_ = false;
    bool ended_ = false;
    bool truncated_ = false;
    bool wanted_certificate_ = false;
    std::optional<std::string> failure_; // of reading
};

std::unique_ptr<TlsStream> make_tls_stream(std::shared_ptr<TlsConnection> connection);

} // namespace cellgate::tls
