#pragma once
// `TrustedRoots::Members` is the context that its connections share. Private to the module.

#include "openssl_library.hpp"
#include "tls/trusted_roots.hpp"

#include <deque>
#include <string>
#include <utility>

namespace cellgate::tls {

struct TrustedRoots::Members {
    Owned<SSL_CTX> context;
    std::deque<std::pair<std::string, Owned<SSL_SESSION>>> sessions; // by "host:port", the oldest first

    SSL_SESSION* session_with(const std::string& server) const; // null when there is none
    void keep_session(const std::string& server, Owned<SSL_SESSION> session);
    void forget_session(const std::string& server);
};

} // namespace cellgate::tls
