#pragma once
// `SodiumLibrary` is the system's libsodium, loaded when the first secret is kept: few runs of the program have one.
// Private to the module.

#include <sodium.h>

namespace cellgate::store {

struct SodiumLibrary {
    // Loads it once. Throws Error{store_failed} with a hint when there is none.
    static const SodiumLibrary& get();

    decltype(&::sodium_init) init;
    decltype(&::randombytes_buf) randombytes_buf;
    decltype(&::crypto_secretbox_easy) secretbox_easy;
    decltype(&::crypto_secretbox_open_easy) secretbox_open_easy;
};

} // namespace cellgate::store
