#pragma once
// `SodiumLibrary` is the system's libsodium, loaded when a secret is kept or something is signed.

#include <sodium.h>
#include <string_view>

namespace cellgate {

struct SodiumLibrary {
    // Loads it once. Throws Error{store_failed} with a hint when there is none; `needed_for` is what the message begins
    // with ("keeping a login").
    static const SodiumLibrary& get(std::string_view needed_for);

    decltype(&::sodium_init) init;
    decltype(&::randombytes_buf) randombytes_buf;
    decltype(&::crypto_secretbox_easy) secretbox_easy;
    decltype(&::crypto_secretbox_open_easy) secretbox_open_easy;
    decltype(&::crypto_sign_seed_keypair) sign_seed_keypair;
    decltype(&::crypto_sign_detached) sign_detached;
    decltype(&::crypto_sign_verify_detached) sign_verify_detached;
};

} // namespace cellgate
