#include "openssl_library.hpp"

#include "base/loaded_library.hpp"

namespace cellgate::tls {

namespace {

OpenSsl load_openssl() {
    const LoadedLibrary libcrypto("libcrypto.so.3", "libssl3", "TLS");
    const LoadedLibrary libssl("libssl.so.3", "libssl3", "TLS");
    OpenSsl openssl{};
#define CELLGATE_FIND(name) libcrypto.find(#name, openssl.name);
    CELLGATE_LIBCRYPTO(CELLGATE_FIND)
#undef CELLGATE_FIND
#define CELLGATE_FIND(name) libssl.find(#name, openssl.name);
    CELLGATE_LIBSSL(CELLGATE_FIND)
#undef CELLGATE_FIND
    return openssl;
}

} // namespace

const OpenSsl& OpenSsl::get() {
    static const OpenSsl openssl = load_openssl();
    return openssl;
}

} // namespace cellgate::tls
