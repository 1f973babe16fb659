#include "base/sodium_library.hpp"

#include "base/loaded_library.hpp"

namespace cellgate {

namespace {

SodiumLibrary load_sodium(std::string_view needed_for) {
    const LoadedLibrary library("libsodium.so.23", "libsodium23", needed_for);
    SodiumLibrary sodium{};
    library.find("sodium_init", sodium.init);
    library.find("randombytes_buf", sodium.randombytes_buf);
    library.find("crypto_secretbox_easy", sodium.secretbox_easy);
    library.find("crypto_secretbox_open_easy", sodium.secretbox_open_easy);
    library.find("crypto_sign_seed_keypair", sodium.sign_seed_keypair);
    library.find("crypto_sign_detached", sodium.sign_detached);
    library.find("crypto_sign_verify_detached", sodium.sign_verify_detached);
    if (sodium.init() < 0) {
        library.fail("it cannot be initialised");
    }
    return sodium;
}

} // namespace

const SodiumLibrary& SodiumLibrary::get(std::string_view needed_for) {
    static const SodiumLibrary sodium = load_sodium(needed_for);
    return sodium;
}

} // namespace cellgate
