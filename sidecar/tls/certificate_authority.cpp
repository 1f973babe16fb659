#include "tls/certificate_authority.hpp"

#include "identity.hpp"
#include "openssl_error.hpp"

#include <array>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace cellgate::tls {

namespace {

constexpr std::size_t max_identities = 256;
constexpr long hour = 3600;
constexpr int authority_days = 30;
constexpr int identity_days = 8;
constexpr std::time_t day = 24 * hour;

constexpr const char* making = "make a certificate";

std::shared_ptr<EVP_PKEY> make_key() {
    EVP_PKEY* key = OpenSsl::get().EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256");
    require_openssl(key != nullptr, "make a key");
    return {key, OpenSslFree()};
}

// 127 random bits, the first of which is set (RFC 5280, section 4.1.2.2: positive, 20 bytes at most).
void set_serial(X509* certificate) {
    const OpenSsl& openssl = OpenSsl::get();
    std::array<unsigned char, 16> bytes{};
    require_openssl(openssl.RAND_bytes(bytes.data(), bytes.size()) == 1, making);
    bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7F) | 0x40);
    const Owned<BIGNUM> number(openssl.BN_bin2bn(bytes.data(), bytes.size(), nullptr));
    const Owned<ASN1_INTEGER> serial(openssl.BN_to_ASN1_INTEGER(number.get(), nullptr));
    require_openssl(serial && openssl.X509_set_serialNumber(certificate, serial.get()) == 1, making);
}

struct Extension {
    int nid;
    std::string value;
};

struct Description {
    const char* field; // of the subject
    std::string value;
    int days;
    std::time_t now;
    std::vector<Extension> extensions;
};

// Signed by `issuer`, or by itself where that is null.
Owned<X509> make_certificate(const Description& description, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key) {
    const OpenSsl& openssl = OpenSsl::get();
    Owned<X509> made(openssl.X509_new());
    X509* certificate = made.get();
    require_openssl(certificate != nullptr && openssl.X509_set_version(certificate, X509_VERSION_3) == 1, making);
    set_serial(certificate);
    std::time_t now = description.now;
    openssl.X509_time_adj_ex(openssl.X509_getm_notBefore(certificate), 0, -hour, &now);
    openssl.X509_time_adj_ex(openssl.X509_getm_notAfter(certificate), description.days, 0, &now);
    X509_NAME* subject = openssl.X509_get_subject_name(certificate);
    const auto* text = reinterpret_cast<const unsigned char*>(description.value.c_str());
    require_openssl(openssl.X509_NAME_add_entry_by_txt(subject, description.field, MBSTRING_UTF8, text, -1, -1, 0) == 1,
                    making);
    X509* signer = issuer != nullptr ? issuer : certificate;
    openssl.X509_set_issuer_name(certificate, openssl.X509_get_subject_name(signer));
    openssl.X509_set_pubkey(certificate, key);
    X509V3_CTX context{};
    openssl.X509V3_set_ctx(&context, signer, certificate, nullptr, nullptr, 0);
    for (const Extension& each : description.extensions) {
        const Owned<X509_EXTENSION> extension(
            openssl.X509V3_EXT_nconf_nid(nullptr, &context, each.nid, each.value.c_str()));
        require_openssl(extension && openssl.X509_add_ext(certificate, extension.get(), -1) == 1, making);
    }
    require_openssl(openssl.X509_sign(certificate, issuer_key, openssl.EVP_sha256()) > 0, making);
    return made;
}

std::string to_pem(X509* certificate) {
    const OpenSsl& openssl = OpenSsl::get();
    const Owned<BIO> memory(openssl.BIO_new(openssl.BIO_s_mem()));
    require_openssl(memory && openssl.PEM_write_bio_X509(memory.get(), certificate) == 1, making);
    std::string pem(openssl.BIO_ctrl_pending(memory.get()), '\0');
    openssl.BIO_read(memory.get(), pem.data(), static_cast<int>(pem.size()));
    return pem;
}

} // namespace

struct CertificateAuthority::Members {
    struct Made {
        std::shared_ptr<const Identity> identity;
        std::time_t renewed_at = 0;
    };

    std::function<std::time_t()> now;
    std::shared_ptr<EVP_PKEY> key = make_key();
    std::shared_ptr<EVP_PKEY> identity_key = make_key(); // of all hosts
    Owned<X509> certificate;
    std::string pem;
    std::map<std::string, Made> identities;
    std::deque<std::string> order; // of their making
};

CertificateAuthority::CertificateAuthority(const std::string& name, std::function<std::time_t()> now)
    : members_(std::make_unique<Members>()) {
    Members& self = *members_;
    self.now = now ? std::move(now) : [] { return std::time(nullptr); };
    const Description description{"CN",
                                  name,
                                  authority_days,
                                  self.now(),
                                  {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                                   {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                   {NID_subject_key_identifier, "hash"},
                                   {NID_authority_key_identifier, "keyid:always"}}};
    self.certificate = make_certificate(description, self.key.get(), nullptr, self.key.get());
    self.pem = to_pem(self.certificate.get());
}

CertificateAuthority::~CertificateAuthority() = default;

const std::string& CertificateAuthority::certificate_pem() const {
    return members_->pem;
}

std::shared_ptr<const Identity> CertificateAuthority::identity_for(const Host& host) {
    Members& self = *members_;
    const std::time_t now = self.now();
    const auto known = self.identities.find(host.name);
    if (known != self.identities.end() && now < known->second.renewed_at) {
        return known->second.identity;
    }
    // The subject says nothing of the host: a common name is too short for some.
    const Description description{"O",
                                  "cellgate",
                                  identity_days,
                                  now,
                                  {{NID_basic_constraints, "critical,CA:FALSE"},
                                   {NID_key_usage, "critical,digitalSignature"},
                                   {NID_ext_key_usage, "serverAuth"},
                                   {NID_subject_key_identifier, "hash"},
                                   {NID_authority_key_identifier, "keyid:always"},
                                   {NID_subject_alt_name, (host.is_address ? "IP:" : "DNS:") + host.name}}};
    auto identity = std::make_shared<Identity>();
    identity->key = self.identity_key;
    identity->certificate =
        make_certificate(description, self.identity_key.get(), self.certificate.get(), self.key.get());
    if (known == self.identities.end()) {
        self.order.push_back(host.name);
        if (self.order.size() > max_identities) {
            self.identities.erase(self.order.front());
            self.order.pop_front();
        }
    }
    self.identities[host.name] = {identity, now + (identity_days - 1) * day};
    return identity;
}

} // namespace cellgate::tls
