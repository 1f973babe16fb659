#include "base/hash.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <memory>

namespace cellgate {

namespace {

// Before anything else is asked of OpenSSL. What a file or OPENSSL_CONF says (modules to load, too) is not for us, and
// to read it takes half a megabyte.
void without_configuration() {
    static const bool done = OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) == 1;
    if (!done) {
        throw Error(ErrorCode::internal_error, "OpenSSL could not be initialised");
    }
}

// Found once: it is looked up by its name among all that OpenSSL has.
EVP_MAC* hmac_algorithm() {
    without_configuration();
    static const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> algorithm(EVP_MAC_fetch(nullptr, "HMAC", nullptr),
                                                                             EVP_MAC_free);
    return algorithm.get();
}

std::string digest_hex(const unsigned char* bytes, std::size_t size) {
    return to_hex(std::string_view(reinterpret_cast<const char*>(bytes), size));
}

} // namespace

std::string sha256(std::string_view bytes) {
    without_configuration();
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
        throw Error(ErrorCode::internal_error, "SHA-256 failed");
    }
    return digest_hex(digest.data(), size);
}

std::string hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts) {
    std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(EVP_MAC_CTX_new(hmac_algorithm()),
                                                                      EVP_MAC_CTX_free);
    char name[] = "SHA256";
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("digest", name, 0), OSSL_PARAM_construct_end()};
    const auto bytes = [](std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); };
    bool good = context != nullptr && EVP_MAC_init(context.get(), bytes(key), key.size(), parameters) == 1;
    for (const std::string_view part : parts) {
        good = good && EVP_MAC_update(context.get(), bytes(part), part.size()) == 1;
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    std::size_t size = 0;
    if (!good || EVP_MAC_final(context.get(), digest.data(), &size, digest.size()) != 1) {
        throw Error(ErrorCode::internal_error, "HMAC-SHA-256 failed");
    }
    return digest_hex(digest.data(), size);
}

bool equal_constant_time(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

} // namespace cellgate
