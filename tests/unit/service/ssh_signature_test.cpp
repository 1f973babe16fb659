#include "base/encoding.hpp"
#include "ssh_signature.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cellgate;
using namespace cellgate::service;

namespace {

// Made by `ssh-keygen -Y sign -n cellgate`, with keys of OpenSSH's own test provider.
constexpr std::string_view touched = R"(-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAAEoAAAAac2stc3NoLWVkMjU1MTlAb3BlbnNzaC5jb20AAAAgsL7OwB
l2Gk8za9ZUoFq5mxRnlnf+ol+YOYFLE+qyv04AAAAEc3NoOgAAAAhjZWxsZ2F0ZQAAAAAA
AAAGc2hhNTEyAAAAZwAAABpzay1zc2gtZWQyNTUxOUBvcGVuc3NoLmNvbQAAAEDN7O7kRw
uaWLjcv9MEJ3H4XJPC8kBNmYi12RYABkalDBQUNlqRND2S2uUWxFe8LAwM6iBUfAAt0W2E
Zn71MDoPARI0Vng=
-----END SSH SIGNATURE-----
)";
constexpr std::string_view not_touched = R"(-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAAEoAAAAac2stc3NoLWVkMjU1MTlAb3BlbnNzaC5jb20AAAAgjWxysL
pZMLkYc9ZoLn2o17XnF6K3QLgRm4g+ZPtlowoAAAAEc3NoOgAAAAhjZWxsZ2F0ZQAAAAAA
AAAGc2hhNTEyAAAAZwAAABpzay1zc2gtZWQyNTUxOUBvcGVuc3NoLmNvbQAAAEBkXNA+jk
foB4MmQA5N7zS+l8H3wPJpHOjz2+g3gxlSw3RfV4JyYsUA4/hml5jSYhg3u3agGH9TrD/u
WI0E1wAPABI0Vng=
-----END SSH SIGNATURE-----
)";
constexpr std::string_view by_ecdsa = R"(-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAAH8AAAAic2stZWNkc2Etc2hhMi1uaXN0cDI1NkBvcGVuc3NoLmNvbQ
AAAAhuaXN0cDI1NgAAAEEELepHo/xOE9JCWeX7jDOI9KoiEHAStISP+E31ONPhw2O7m06q
gQK0FVMAsVk9bs/64A5rAN6hP/c1UlWn+TlJvgAAAARzc2g6AAAACGNlbGxnYXRlAAAAAA
AAAAZzaGE1MTIAAAB3AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20A
AABIAAAAICLYLW0TfWzUe+o1cHKuYWPTKGzMA+watdTi3qBBmBOlAAAAIHjL4EBWnl5Pl0
MLpNvF72Cf7Yhp8L/fCVQ1ctEHeK3OARI0Vng=
-----END SSH SIGNATURE-----
)";
constexpr std::string_view by_plain_key = R"(-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgYc1dj0bF9aandxr7bLhfnkP5VG
pz54cV4uAfZh/6hQ4AAAAIY2VsbGdhdGUAAAAAAAAABnNoYTUxMgAAAFMAAAALc3NoLWVk
MjU1MTkAAABAy9MhNbOZOPl6jQ3+7zwXexl5hBn3jImfv5RfvSk1h8AbISbfCm7x0Yz28s
POaNqrzzYHGcOg4KgUiqaSkgq/BQ==
-----END SSH SIGNATURE-----
)";
constexpr std::string_view public_key = "sk-ssh-ed25519@openssh.com "
                                        "AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAILC+zsAZdhpPM2vWVKBauZsUZ5Z3/"
                                        "qJfmDmBSxPqsr9OAAAABHNzaDo= ada@example.org\n";

constexpr std::string_view begin = "-----BEGIN SSH SIGNATURE-----\n";
constexpr std::string_view end = "-----END SSH SIGNATURE-----\n";

std::string bytes_of(std::string_view armored) {
    armored.remove_prefix(begin.size());
    return decode_base64(armored.substr(0, armored.find("-----END"))).value();
}

std::string armor(std::string_view bytes) {
    return std::string(begin) + encode_base64(bytes) + "\n" + std::string(end);
}

} // namespace

TEST_CASE("a signature by a security key says whose it is, and that it was touched") {
    const std::optional<SshSignature> signature = parse_ssh_signature(touched);
    REQUIRE(signature);
    CHECK(signature->key_type == "sk-ssh-ed25519@openssh.com");
    CHECK(signature->public_key == parse_ssh_public_key(public_key));
    CHECK(signature->name_space == "cellgate");
    CHECK(signature->flags == SshSignature::user_present);
    CHECK(signature->counter == 0x12345678);
    const std::optional<SshSignature> other = parse_ssh_signature(by_ecdsa);
    REQUIRE(other);
    CHECK(other->key_type == "sk-ecdsa-sha2-nistp256@openssh.com");
    CHECK(other->flags == SshSignature::user_present);
}

TEST_CASE("a key that needs no touch leaves the flag out") {
    const std::optional<SshSignature> signature = parse_ssh_signature(not_touched);
    REQUIRE(signature);
    CHECK(signature->flags == 0);
}

TEST_CASE("a signature by a key that is no security key is none") {
    CHECK_FALSE(parse_ssh_signature(by_plain_key));
    CHECK_FALSE(is_security_key("ssh-ed25519"));
    CHECK(is_security_key("sk-ssh-ed25519@openssh.com")); // the control
}

TEST_CASE("what is cut, or has more, is no signature") {
    const std::string bytes = bytes_of(touched);
    CHECK(parse_ssh_signature(armor(bytes))); // the control
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        CAPTURE(length);
        CHECK_FALSE(parse_ssh_signature(armor(bytes.substr(0, length))));
    }
    CHECK_FALSE(parse_ssh_signature(armor(bytes + "x")));
    for (const std::size_t length : {0, 10, 29, 30, 40}) {
        CHECK_FALSE(parse_ssh_signature(touched.substr(0, length)));
    }
    CHECK_FALSE(parse_ssh_signature(std::string(begin) + "no base64" + std::string(end)));
    CHECK_FALSE(parse_ssh_signature("text before\n" + std::string(touched)));
}

TEST_CASE("no change of a byte makes the reader read beyond the end, or another key's type pass") {
    const std::string bytes = bytes_of(touched);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (const char value : {'\0', '\x7f', '\xff'}) {
            std::string changed = bytes;
            changed[at] = value;
            const std::optional<SshSignature> signature = parse_ssh_signature(armor(changed));
            CHECK((!signature || is_security_key(signature->key_type)));
        }
    }
}

TEST_CASE("the public key is read as its file has it") {
    CHECK(type_of_ssh_key(parse_ssh_public_key(public_key).value()) == "sk-ssh-ed25519@openssh.com");
    CHECK_FALSE(parse_ssh_public_key(""));
    CHECK_FALSE(parse_ssh_public_key("sk-ssh-ed25519@openssh.com"));
    CHECK_FALSE(parse_ssh_public_key("sk-ssh-ed25519@openssh.com %%%"));
    // A line that says another type than its key.
    CHECK_FALSE(parse_ssh_public_key("ssh-ed25519" + std::string(public_key.substr(public_key.find(' ')))));
}
