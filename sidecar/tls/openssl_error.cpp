#include "openssl_error.hpp"

#include "base/error.hpp"
#include "openssl_library.hpp"

#include <fmt/format.h>

namespace cellgate::tls {

OpenSslErrors take_openssl_errors() {
    const OpenSsl& openssl = OpenSsl::get();
    OpenSslErrors errors;
    for (unsigned long code = openssl.ERR_get_error(); code != 0; code = openssl.ERR_get_error()) {
        const int reason = ERR_GET_REASON(code);
        if (ERR_GET_LIB(code) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256) {
            errors.alert = reason - SSL_AD_REASON_OFFSET;
        }
        if (errors.text.empty()) {
            const char* text = openssl.ERR_reason_error_string(code);
            errors.text = text != nullptr ? text : fmt::format("error {}", reason);
        }
    }
    return errors;
}

void require_openssl(bool done, const char* what_failed) {
    if (!done) {
        throw Error(ErrorCode::internal_error, fmt::format("cannot {}: {}", what_failed, take_openssl_errors().text));
    }
}

} // namespace cellgate::tls
