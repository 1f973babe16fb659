#pragma once
// `TrustedRoots` are the certificates of authorities by which servers are verified, and the sessions that can be
// resumed with servers that were verified by them (the last 64, by host and port). Errors are Error{internal_error};
// Error{store_failed} where the system has no OpenSSL 3.

#include <memory>
#include <string>

namespace cellgate::tls {

class TrustedRoots {
  public:
    // Those of the system: of OpenSSL's own paths, or of SSL_CERT_FILE and SSL_CERT_DIR. Read once, at the first call,
    // which takes some milliseconds.
    static std::shared_ptr<TrustedRoots> of_system();
    // Those of a text in PEM.
    explicit TrustedRoots(const std::string& pem);
    ~TrustedRoots();

    struct Members;
    Members& members() const { return *members_; } // for the module's own sources

  private:
    TrustedRoots();
    std::unique_ptr<Members> members_;
};

} // namespace cellgate::tls
