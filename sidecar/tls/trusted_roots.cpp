#include "openssl_error.hpp"
#include "tls_connection.hpp"
#include "trusted_roots_members.hpp"

#include <algorithm>

namespace cellgate::tls {

namespace {

constexpr std::size_t max_sessions = 64;
constexpr unsigned char offered_protocols[] = "\x08http/1.1";

// Of a connection that is under way, or has been made.
TlsConnection& connection_of(const SSL* ssl) {
    return *static_cast<TlsConnection*>(OpenSsl::get().SSL_get_ex_data(ssl, 0));
}

Owned<SSL_CTX> make_client_context() {
    const OpenSsl& openssl = OpenSsl::get();
    Owned<SSL_CTX> context(openssl.SSL_CTX_new(openssl.TLS_client_method()));
    SSL_CTX* raw = context.get();
    require_openssl(raw != nullptr, "prepare TLS");
    set_common_options(raw);
    openssl.SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nullptr);
    openssl.SSL_CTX_set_alpn_protos(raw, offered_protocols, sizeof offered_protocols - 1);
    openssl.SSL_CTX_set_client_cert_cb(raw, [](SSL* ssl, X509**, EVP_PKEY**) {
        connection_of(ssl).note_wanted_certificate();
        return 0;
    });
    openssl.SSL_CTX_ctrl(raw, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL,
                         nullptr);
    openssl.SSL_CTX_sess_set_new_cb(raw, [](SSL* ssl, SSL_SESSION* session) {
        connection_of(ssl).keep_session(session);
        return 1;
    });
    return context;
}

} // namespace

TrustedRoots::TrustedRoots() : members_(std::make_unique<Members>()) {
    members_->context = make_client_context();
}

TrustedRoots::~TrustedRoots() = default;

TrustedRoots::TrustedRoots(const std::string& pem) : TrustedRoots() {
    const OpenSsl& openssl = OpenSsl::get();
    const Owned<BIO> text(openssl.BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    X509_STORE* store = openssl.SSL_CTX_get_cert_store(members_->context.get());
    bool found = false;
    while (const Owned<X509> root{openssl.PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)}) {
        require_openssl(openssl.X509_STORE_add_cert(store, root.get()) == 1, "trust a certificate");
        found = true;
    }
    require_openssl(found, "read trusted certificates");
    openssl.ERR_clear_error(); // the end of the text is one
}

std::shared_ptr<TrustedRoots> TrustedRoots::of_system() {
    // Never destroyed: OpenSSL tidies itself up when the process ends.
    static const auto* const roots = [] {
        auto* const made = new std::shared_ptr<TrustedRoots>(new TrustedRoots());
        OpenSsl::get().SSL_CTX_set_default_verify_paths((*made)->members_->context.get());
        OpenSsl::get().ERR_clear_error(); // where there are none, the first server says so
        return made;
    }();
    return *roots;
}

SSL_SESSION* TrustedRoots::Members::session_with(const std::string& server) const {
    const auto known =
        std::find_if(sessions.begin(), sessions.end(), [&](const auto& each) { return each.first == server; });
    return known != sessions.end() ? known->second.get() : nullptr;
}

void TrustedRoots::Members::keep_session(const std::string& server, Owned<SSL_SESSION> session) {
    forget_session(server);
    sessions.emplace_back(server, std::move(session));
    if (sessions.size() > max_sessions) {
        sessions.pop_front();
    }
}

void TrustedRoots::Members::forget_session(const std::string& server) {
    std::erase_if(sessions, [&](const auto& each) { return each.first == server; });
}

} // namespace cellgate::tls
