#include "signing_key.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/private_files.hpp"
#include "base/regular_file.hpp"
#include "base/sodium_library.hpp"

#include <fmt/format.h>

namespace cellgate::record {

namespace {

constexpr char ed25519 = '\x01'; // the type of a key, in C2SP signed-note
constexpr std::string_view secret_prefix = "PRIVATE+KEY+";
constexpr std::size_t max_file_bytes = 4096;

const SodiumLibrary& sodium() {
    return SodiumLibrary::get("the record");
}

const unsigned char* raw(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* raw(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

std::string key_id(std::string_view name, std::string_view key) {
    const Sha256Digest digest = sha256_bytes({name, "\n", std::string_view(&ed25519, 1), key});
    return {digest.begin(), digest.begin() + 4};
}

struct KeyText {
    std::string name;
    std::string id; // hexadecimal
    std::string bytes;
};

// "name+id+base64", of a key of 32 bytes.
std::optional<KeyText> parse_key(std::string_view text) {
    text = text.substr(0, text.find('\n'));
    const std::size_t first = text.find('+');
    const std::size_t second = first == std::string_view::npos ? first : text.find('+', first + 1);
    if (second == std::string_view::npos) {
        return std::nullopt;
    }
    const std::optional<std::string> bytes = decode_base64(text.substr(second + 1));
    if (first == 0 || !bytes || bytes->size() != 33 || bytes->front() != ed25519) {
        return std::nullopt;
    }
    return KeyText{std::string(text.substr(0, first)), std::string(text.substr(first + 1, second - first - 1)),
                   bytes->substr(1)};
}

std::string write_key(const VerifierKey& key, const std::string& bytes) {
    return fmt::format("{}+{}+{}", key.name, to_hex(key.id), encode_base64(ed25519 + bytes));
}

} // namespace

std::optional<VerifierKey> VerifierKey::parse(std::string_view text) {
    std::optional<KeyText> key = parse_key(text);
    if (!key || to_hex(key_id(key->name, key->bytes)) != key->id) {
        return std::nullopt;
    }
    std::string id = key_id(key->name, key->bytes);
    return VerifierKey{std::move(key->name), std::move(id), std::move(key->bytes)};
}

VerifierKey VerifierKey::read(const std::string& directory) {
    const std::string path = directory + "/record.pub";
    const RegularFile file = read_regular_file(path, max_file_bytes);
    if (file.error != 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot read {}", path), file.error);
    }
    const std::optional<VerifierKey> key = parse(file.bytes);
    if (!key) {
        throw Error(ErrorCode::store_failed, fmt::format("expected {} to be a verifier key", path));
    }
    return *key;
}

std::string VerifierKey::text() const {
    return write_key(*this, bytes);
}

bool VerifierKey::has_signed(std::string_view message, std::string_view signature) const {
    return signature.size() == crypto_sign_BYTES &&
           sodium().sign_verify_detached(raw(signature), raw(message), message.size(), raw(bytes)) == 0;
}

SigningKey::SigningKey(const std::string& name, std::string_view seed)
    : secret_(crypto_sign_SECRETKEYBYTES, '\0'), verifier_{name, {}, std::string(crypto_sign_PUBLICKEYBYTES, '\0')} {
    sodium().sign_seed_keypair(raw(verifier_.bytes), raw(secret_), raw(seed));
    verifier_.id = key_id(name, verifier_.bytes);
}

SigningKey SigningKey::open(const std::string& directory, const std::string& name) {
    const std::string path = directory + "/record.key";
    const std::string public_path = directory + "/record.pub";
    std::string text = read_private_file(path, max_file_bytes).value_or("");
    if (text.empty()) {
        std::string seed(crypto_sign_SEEDBYTES, '\0');
        sodium().randombytes_buf(seed.data(), seed.size());
        text = fmt::format("{}{}\n", secret_prefix, write_key(SigningKey(name, seed).verifier(), seed));
        write_private_file(directory, path, text);
    }
    const std::optional<KeyText> kept =
        text.starts_with(secret_prefix) ? parse_key(text.substr(secret_prefix.size())) : std::nullopt;
    if (!kept) {
        throw Error(ErrorCode::store_failed, fmt::format("expected {} to be a signing key", path),
                    "restore it, or move it and the record away to begin a new one");
    }
    SigningKey key(kept->name, kept->bytes);
    const std::string public_text = key.verifier().text() + "\n";
    if (read_private_file(public_path, max_file_bytes) != public_text) {
        write_private_file(directory, public_path, public_text);
    }
    return key;
}

std::string SigningKey::sign(std::string_view message) const {
    std::string signature(crypto_sign_BYTES, '\0');
    sodium().sign_detached(raw(signature), nullptr, raw(message), message.size(), raw(secret_));
    return signature;
}

} // namespace cellgate::record
