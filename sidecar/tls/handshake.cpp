#include "identity.hpp"
#include "tls_connection.hpp"
#include "trusted_roots_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace cellgate::tls {

namespace {

constexpr std::string_view spoken_protocol = "http/1.1";
// By which a client says that it does not take the certificate.
constexpr std::array<int, 5> distrust = {SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE,
                                         SSL_AD_CERTIFICATE_EXPIRED, SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA};

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void*) {
    for (unsigned at = 0; at < offered_size; at += 1U + offered[at]) {
        const std::string_view rest(reinterpret_cast<const char*>(offered) + at + 1, offered_size - at - 1);
        if (rest.substr(0, offered[at]) == spoken_protocol) {
            *chosen = offered + at + 1;
            *size = offered[at];
            return SSL_TLSEXT_ERR_OK;
        }
    }
    return SSL_TLSEXT_ERR_NOACK;
}

// Of all servers' sides. It resumes no sessions: one that began under one authority must not go on under another.
SSL_CTX* server_context() {
    // Never destroyed: OpenSSL tidies itself up when the process ends.
    static SSL_CTX* const made = [] {
        const OpenSsl& openssl = OpenSsl::get();
        SSL_CTX* context = openssl.SSL_CTX_new(openssl.TLS_server_method());
        require_openssl(context != nullptr, "prepare TLS");
        set_common_options(context);
        openssl.SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
        openssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, nullptr);
        openssl.SSL_CTX_set_num_tickets(context, 0);
        openssl.SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
        return context;
    }();
    return made;
}

HandshakeFailed failed_accept(const TlsConnection::Failure& failure) {
    if (failure.ended) {
        return HandshakeFailed("the client ended the connection in the middle of the TLS handshake", false);
    }
    const std::optional<int>& alert = failure.errors.alert;
    if (alert && std::find(distrust.begin(), distrust.end(), *alert) != distrust.end()) {
        return HandshakeFailed("the client does not trust the certificate: " + failure.errors.text, true);
    }
    return HandshakeFailed("the TLS handshake with the client failed: " + failure.errors.text, false);
}

Error failed_connect(const TlsConnection& connection, const std::string& server,
                     const TlsConnection::Failure& failure) {
    const OpenSsl& openssl = OpenSsl::get();
    const long verified = openssl.SSL_get_verify_result(connection.ssl());
    if (verified != X509_V_OK) {
        return Error(ErrorCode::internal_error, fmt::format("the certificate of {} is not trusted: {}", server,
                                                            openssl.X509_verify_cert_error_string(verified)));
    }
    const std::string why = failure.ended ? "it ended the connection" : failure.errors.text;
    const char* wanted =
        connection.wanted_certificate() ? "; it had asked for a certificate of the client, and there is none" : "";
    return Error(ErrorCode::internal_error, fmt::format("the TLS handshake with {} failed: {}{}", server, why, wanted));
}

void expect_host(SSL* ssl, const Host& host) {
    const OpenSsl& openssl = OpenSsl::get();
    if (host.is_address) {
        X509_VERIFY_PARAM* expected = openssl.SSL_get0_param(ssl);
        require_openssl(openssl.X509_VERIFY_PARAM_set1_ip_asc(expected, host.name.c_str()) == 1, "begin TLS");
        return;
    }
    std::string name = host.name;
    openssl.SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    require_openssl(openssl.SSL_set1_host(ssl, name.c_str()) == 1, "begin TLS");
    require_openssl(openssl.SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1,
                    "begin TLS");
}

} // namespace

HandshakeFailed::HandshakeFailed(std::string message, bool by_distrust)
    : Error(ErrorCode::invalid_request, std::move(message)), distrusted(by_distrust) {}

Task<std::unique_ptr<TlsStream>> accept_tls(std::unique_ptr<async::SocketStream> below, std::string early,
                                            std::shared_ptr<const Identity> identity) {
    const OpenSsl& openssl = OpenSsl::get();
    const auto connection = std::make_shared<TlsConnection>(server_context(), std::move(below), std::nullopt);
    SSL* ssl = connection->ssl();
    require_openssl(openssl.SSL_use_certificate(ssl, identity->certificate.get()) == 1 &&
                        openssl.SSL_use_PrivateKey(ssl, identity->key.get()) == 1,
                    "begin TLS");
    openssl.SSL_set_accept_state(ssl);
    const std::optional<TlsConnection::Failure> failure =
        co_await TlsConnection::handshake(connection, std::move(early));
    if (failure) {
        throw failed_accept(*failure);
    }
    co_return make_tls_stream(connection);
}

Task<std::unique_ptr<TlsStream>> connect_tls(std::unique_ptr<async::SocketStream> below, Endpoint server,
                                             std::shared_ptr<TrustedRoots> roots) {
    const OpenSsl& openssl = OpenSsl::get();
    const std::string name = to_string(server);
    TlsConnection::Server known{name, roots};
    const auto connection =
        std::make_shared<TlsConnection>(roots->members().context.get(), std::move(below), std::move(known));
    SSL* ssl = connection->ssl();
    expect_host(ssl, server.host);
    if (SSL_SESSION* session = roots->members().session_with(name)) {
        openssl.SSL_set_session(ssl, session);
    }
    openssl.SSL_set_connect_state(ssl);
    std::string nothing;
    const std::optional<TlsConnection::Failure> failure =
        co_await TlsConnection::handshake(connection, std::move(nothing));
    if (failure) {
        roots->members().forget_session(name);
        throw failed_connect(*connection, name, *failure);
    }
    co_return make_tls_stream(connection);
}

} // namespace cellgate::tls
