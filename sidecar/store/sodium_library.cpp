#include "sodium_library.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

namespace cellgate::store {

namespace {

constexpr const char* sodium_name = "libsodium.so.23";

Error sodium_unusable(std::string_view why) {
    return Error(ErrorCode::store_failed, fmt::format("keeping a login needs {}: {}", sodium_name, why),
                 "On Debian and Ubuntu: sudo apt install libsodium23");
}

template <class Function>
void find_in_sodium(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function == nullptr) {
        throw sodium_unusable(fmt::format("it has no {}", name));
    }
}

SodiumLibrary load_sodium() {
    void* library = ::dlopen(sodium_name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw sodium_unusable(::dlerror());
    }
    SodiumLibrary sodium{};
    find_in_sodium(library, "sodium_init", sodium.init);
    find_in_sodium(library, "randombytes_buf", sodium.randombytes_buf);
    find_in_sodium(library, "crypto_secretbox_easy", sodium.secretbox_easy);
    find_in_sodium(library, "crypto_secretbox_open_easy", sodium.secretbox_open_easy);
    if (sodium.init() < 0) {
        throw sodium_unusable("it cannot be initialised");
    }
    return sodium;
}

} // namespace

const SodiumLibrary& SodiumLibrary::get() {
    static const SodiumLibrary sodium = load_sodium();
    return sodium;
}

} // namespace cellgate::store
