#pragma once
// `SigningKey` is the Ed25519 key with which a record signs its checkpoints; `VerifierKey` is its public half. They are
// files beside the record, in the formats of signed notes (C2SP signed-note): `record.key` for this user alone,
// `record.pub` for whom it may concern. All functions throw Error{store_failed}. Private to the module.

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::record {

struct VerifierKey {
    std::string name;
    std::string id;    // 4 bytes
    std::string bytes; // 32 bytes

    // "name+id in hexadecimal+base64 of 0x01 and the key", perhaps with a line break.
    static std::optional<VerifierKey> parse(std::string_view text);
    // Reads `record.pub`.
    static VerifierKey read(const std::string& directory);
    std::string text() const;
    bool has_signed(std::string_view message, std::string_view signature) const;
};

class SigningKey {
  public:
    // Reads `record.key`, or makes it under this name, which has no white space and no plus; writes `record.pub` when
    // that says something else.
    static SigningKey open(const std::string& directory, const std::string& name);

    const VerifierKey& verifier() const { return verifier_; }
    // 64 bytes.
    std::string sign(std::string_view message) const;

  private:
    SigningKey(const std::string& name, std::string_view seed);

    std::string secret_; // as libsodium has it: the seed, and the public key
    VerifierKey verifier_;
};

} // namespace cellgate::record
