#include "base/hash.hpp"

#include "base/encoding.hpp"

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>

namespace cellgate {

namespace {

const std::uint8_t* bytes_of(std::string_view text) {
    return reinterpret_cast<const std::uint8_t*>(text.data());
}

std::string to_hex(const Sha256Digest& digest) {
    return cellgate::to_hex(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

} // namespace

std::string sha256(std::string_view bytes) {
    return to_hex(sha256_bytes({bytes}));
}

Sha256Digest sha256_bytes(std::initializer_list<std::string_view> parts) {
    sha256_ctx context{};
    sha256_init(&context);
    for (const std::string_view part : parts) {
        sha256_update(&context, part.size(), bytes_of(part));
    }
    Sha256Digest digest{};
    sha256_digest(&context, digest.size(), digest.data());
    return digest;
}

Sha256Digest hmac_sha256_bytes(std::string_view key, std::initializer_list<std::string_view> parts) {
    hmac_sha256_ctx context{};
    hmac_sha256_set_key(&context, key.size(), bytes_of(key));
    for (const std::string_view part : parts) {
        hmac_sha256_update(&context, part.size(), bytes_of(part));
    }
    Sha256Digest digest{};
    hmac_sha256_digest(&context, digest.size(), digest.data());
    return digest;
}

std::string hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts) {
    return to_hex(hmac_sha256_bytes(key, parts));
}

std::string sha1_bytes(std::string_view text) {
    sha1_ctx context{};
    sha1_init(&context);
    sha1_update(&context, text.size(), bytes_of(text));
    std::array<std::uint8_t, SHA1_DIGEST_SIZE> digest{};
    sha1_digest(&context, digest.size(), digest.data());
    return {digest.begin(), digest.end()};
}

bool equal_constant_time(std::string_view a, std::string_view b) {
    return a.size() == b.size() && memeql_sec(a.data(), b.data(), a.size()) != 0;
}

} // namespace cellgate
