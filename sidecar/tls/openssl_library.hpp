#pragma once
// `OpenSsl` is the system's OpenSSL 3, loaded when TLS is first needed. Its members have the names of the functions.
// `Owned<T>` owns an object of it. Private to the module.

#include <memory>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// clang-format off
// Real functions of libssl.so.3, no macros of its headers.
#define CELLGATE_LIBSSL(X) \
    X(SSL_CTX_ctrl) X(SSL_CTX_free) X(SSL_CTX_get_cert_store) X(SSL_CTX_new) X(SSL_CTX_sess_set_new_cb) \
    X(SSL_CTX_set_alpn_protos) X(SSL_CTX_set_alpn_select_cb) X(SSL_CTX_set_client_cert_cb) \
    X(SSL_CTX_set_default_verify_paths) X(SSL_CTX_set_num_tickets) X(SSL_CTX_set_options) \
    X(SSL_CTX_set_verify) X(SSL_SESSION_free) X(SSL_SESSION_is_resumable) X(SSL_ctrl) X(SSL_do_handshake) \
    X(SSL_free) X(SSL_get0_alpn_selected) X(SSL_get0_param) X(SSL_get_error) X(SSL_get_ex_data) \
    X(SSL_get_verify_result) X(SSL_new) X(SSL_read_ex) X(SSL_session_reused) X(SSL_set0_rbio) X(SSL_set0_wbio) \
    X(SSL_set1_host) X(SSL_set_accept_state) X(SSL_set_connect_state) X(SSL_set_ex_data) X(SSL_set_hostflags) \
    X(SSL_set_session) X(SSL_shutdown) X(SSL_use_PrivateKey) X(SSL_use_certificate) X(SSL_write_ex) \
    X(TLS_client_method) X(TLS_server_method)

// Those of libcrypto.so.3.
#define CELLGATE_LIBCRYPTO(X) \
    X(ASN1_INTEGER_free) X(BIO_ctrl_pending) X(BIO_free) X(BIO_new) X(BIO_new_mem_buf) X(BIO_read) \
    X(BIO_s_mem) X(BIO_write) X(BN_bin2bn) X(BN_free) X(BN_to_ASN1_INTEGER) X(ERR_clear_error) \
    X(ERR_get_error) X(ERR_reason_error_string) X(EVP_PKEY_free) X(EVP_PKEY_Q_keygen) X(EVP_sha256) \
    X(PEM_read_bio_X509) X(PEM_write_bio_X509) X(RAND_bytes) X(X509V3_EXT_nconf_nid) X(X509V3_set_ctx) \
    X(X509_EXTENSION_free) X(X509_NAME_add_entry_by_txt) X(X509_STORE_add_cert) \
    X(X509_VERIFY_PARAM_set1_ip_asc) X(X509_add_ext) X(X509_free) X(X509_get_subject_name) \
    X(X509_getm_notAfter) X(X509_getm_notBefore) X(X509_new) X(X509_set_issuer_name) X(X509_set_pubkey) \
    X(X509_set_serialNumber) X(X509_set_version) X(X509_sign) X(X509_time_adj_ex) \
    X(X509_verify_cert_error_string)
// clang-format on

namespace cellgate::tls {

struct OpenSsl {
    // Loads it once. Throws Error{store_failed} with a hint when there is none.
    static const OpenSsl& get();

// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define CELLGATE_MEMBER(name) decltype(&::name) name;
    CELLGATE_LIBSSL(CELLGATE_MEMBER)
    CELLGATE_LIBCRYPTO(CELLGATE_MEMBER)
#undef CELLGATE_MEMBER
};

struct OpenSslFree {
    void operator()(BIO* bio) const { OpenSsl::get().BIO_free(bio); }
    void operator()(SSL* ssl) const { OpenSsl::get().SSL_free(ssl); }
    void operator()(SSL_CTX* context) const { OpenSsl::get().SSL_CTX_free(context); }
    void operator()(SSL_SESSION* session) const { OpenSsl::get().SSL_SESSION_free(session); }
    void operator()(X509* certificate) const { OpenSsl::get().X509_free(certificate); }
    void operator()(X509_EXTENSION* extension) const { OpenSsl::get().X509_EXTENSION_free(extension); }
    void operator()(EVP_PKEY* key) const { OpenSsl::get().EVP_PKEY_free(key); }
    void operator()(BIGNUM* number) const { OpenSsl::get().BN_free(number); }
    void operator()(ASN1_INTEGER* number) const { OpenSsl::get().ASN1_INTEGER_free(number); }
};
template <class T>
using Owned = std::unique_ptr<T, OpenSslFree>;

} // namespace cellgate::tls
