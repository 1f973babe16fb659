#pragma once
// write_trusted_certificates() gives the programs of one sandbox the authority by which hosts that are inspected are
// served, beside those that they trust anyway. Most programs read a variable of their environment for that.

#include "base/environment.hpp"
#include "tls/certificate_authority.hpp"

#include <string>

namespace cellgate::egress {

// Writes two files into `directory`, and returns the variables that name them. `environment`: of the sandbox, which may
// name other authorities already. Throws Error{store_failed}.
Environment write_trusted_certificates(const std::string& directory, const tls::CertificateAuthority& authority,
                                       const Environment& environment);

} // namespace cellgate::egress
