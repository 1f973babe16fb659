#pragma once
// `CertificateAuthority` is an authority of one session, whose key (P-256) exists in this process's memory alone. Its
// certificate is valid from an hour ago for 30 days, those that it makes for 8 days. Errors are Error{internal_error};
// Error{store_failed} where the system has no OpenSSL 3.

#include "base/host.hpp"

#include <ctime>
#include <functional>
#include <memory>
#include <string>

namespace cellgate::tls {

// The certificate of a host and its key.
struct Identity;

class CertificateAuthority {
  public:
    // `name` is its subject's common name, of 64 characters at most. `now` is the system's time, in seconds.
    explicit CertificateAuthority(const std::string& name, std::function<std::time_t()> now = {});
    CertificateAuthority(const CertificateAuthority&) = delete;
    CertificateAuthority& operator=(const CertificateAuthority&) = delete;
    ~CertificateAuthority();

    const std::string& certificate_pem() const;
    // The same again for a host that is among the last 256, until a day before its end.
    std::shared_ptr<const Identity> identity_for(const Host& host);

  private:
    struct Members;
    std::unique_ptr<Members> members_;
};

} // namespace cellgate::tls
