#pragma once
// `Identity`, as the module's own sources see it.

#include "openssl_library.hpp"
#include "tls/certificate_authority.hpp"

namespace cellgate::tls {

struct Identity {
    Owned<X509> certificate;
    std::shared_ptr<EVP_PKEY> key;
};

} // namespace cellgate::tls
