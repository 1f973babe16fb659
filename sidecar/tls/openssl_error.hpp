#pragma once
// `take_openssl_errors` empties OpenSSL's queue of errors, which belongs to the thread. Private to the module.

#include <optional>
#include <string>

namespace cellgate::tls {

struct OpenSslErrors {
    std::string text;         // "wrong version number"; the first of them, empty when there was none
    std::optional<int> alert; // that the peer sent (RFC 8446, section 6)
};
OpenSslErrors take_openssl_errors();

// Throws Error{internal_error} "cannot make a certificate: …" with what is in the queue, unless `done`.
void require_openssl(bool done, const char* what_failed);

} // namespace cellgate::tls
