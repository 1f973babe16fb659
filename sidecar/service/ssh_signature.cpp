#include "ssh_signature.hpp"

#include "base/encoding.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace cellgate::service {

namespace {

constexpr std::string_view armor_begin = "-----BEGIN SSH SIGNATURE-----\n";
constexpr std::string_view armor_end = "-----END SSH SIGNATURE-----";
constexpr std::string_view magic = "SSHSIG";
constexpr std::uint32_t version = 1;
constexpr std::array<std::string_view, 2> security_key_types = {"sk-ssh-ed25519@openssh.com",
                                                                "sk-ecdsa-sha2-nistp256@openssh.com"};

// Reads the fields of SSH's formats (RFC 4251) in order. After one that is not whole, nothing is.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    std::string_view take(std::size_t count) {
        whole_ = whole_ && count <= rest_.size();
        const std::string_view taken = whole_ ? rest_.substr(0, count) : std::string_view();
        rest_.remove_prefix(taken.size());
        return taken;
    }
    std::uint32_t number() {
        std::uint32_t value = 0;
        for (const char byte : take(sizeof value)) {
            value = value << 8U | static_cast<std::uint8_t>(byte);
        }
        return value;
    }
    std::uint8_t byte() {
        const std::string_view one = take(1);
        return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one.front());
    }
    std::string_view text() { return take(number()); }
    // Everything was there, and nothing is left.
    bool ended() const { return whole_ && rest_.empty(); }
    bool whole() const { return whole_; }

  private:
    std::string_view rest_;
    bool whole_ = true;
};

} // namespace

bool is_security_key(std::string_view key_type) {
    return std::find(security_key_types.begin(), security_key_types.end(), key_type) != security_key_types.end();
}

std::optional<std::string> type_of_ssh_key(std::string_view public_key) {
    Reader reader(public_key);
    const std::string_view type = reader.text();
    return reader.whole() ? std::optional<std::string>(type) : std::nullopt;
}

std::optional<std::string> parse_ssh_public_key(std::string_view line) {
    const std::size_t start = line.find(' ');
    if (start == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view type = line.substr(0, start);
    line.remove_prefix(start + 1);
    std::optional<std::string> key = decode_base64(line.substr(0, line.find_first_of(" \r\n")));
    return key && type_of_ssh_key(*key) == type ? key : std::nullopt;
}

std::optional<SshSignature> parse_ssh_signature(std::string_view armored) {
    const std::size_t end = armored.find(armor_end);
    if (!armored.starts_with(armor_begin) || end == std::string_view::npos) {
        return std::nullopt;
    }
    const std::optional<std::string> bytes =
        decode_base64(armored.substr(armor_begin.size(), std::max(end, armor_begin.size()) - armor_begin.size()));
    if (!bytes) {
        return std::nullopt;
    }
    Reader reader(*bytes);
    const bool known = reader.take(magic.size()) == magic && reader.number() == version;
    SshSignature signature;
    signature.public_key = reader.text();
    signature.name_space = reader.text();
    reader.text(); // reserved
    reader.text(); // the name of the hash
    Reader inner(reader.text());
    signature.key_type = inner.text();
    inner.text(); // the signature itself
    signature.flags = inner.byte();
    signature.counter = inner.number();
    const bool same_type = type_of_ssh_key(signature.public_key) == signature.key_type;
    if (!known || !reader.ended() || !inner.ended() || !same_type || !is_security_key(signature.key_type)) {
        return std::nullopt;
    }
    return signature;
}

} // namespace cellgate::service
