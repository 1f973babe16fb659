#pragma once
// `Identity` is the certificate of a host and its key. Private to the module.

#include "openssl_library.hpp"
#include "tls/certificate_authority.hpp"

namespace cellgate::tls {

struct Identity {
    Owned<X509> certificate;
    std::shared_ptr<EVP_PKEY> key;
};

} // namespace cellgate::tls
