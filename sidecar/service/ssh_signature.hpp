#pragma once
// `SshSignature` is a signature in the format of `ssh-keygen -Y sign` (OpenSSH's PROTOCOL.sshsig), taken apart. Whether
// it is good, it does not say. Read from any bytes, of which it keeps copies.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::service {

struct SshSignature {
    std::string key_type;   // "sk-ssh-ed25519@openssh.com"
    std::string public_key; // as a .pub file has it, out of base64
    std::string name_space; // "cellgate"
    // Of a security key's signature.
    std::uint8_t flags = 0;
    std::uint32_t counter = 0;

    static constexpr std::uint8_t user_present = 1; // a flag: the key was touched
};

// Nothing for what is no signature by a security key, whose types are sk-ssh-ed25519@openssh.com and
// sk-ecdsa-sha2-nistp256@openssh.com.
std::optional<SshSignature> parse_ssh_signature(std::string_view armored);

// The public key of a .pub file, out of base64; nothing if there is none.
std::optional<std::string> parse_ssh_public_key(std::string_view line);

// The type that the key names.
std::optional<std::string> type_of_ssh_key(std::string_view public_key);
bool is_security_key(std::string_view key_type);

} // namespace cellgate::service
