#include "store/secret_file.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/private_files.hpp"
#include "base/sodium_library.hpp"
#include "base/unique_fd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace cellgate::store {

namespace {

constexpr std::string_view magic = "cellgate secret 1\n";
constexpr std::size_t max_secret_bytes = std::size_t{16} << 20;

// Of what SecretFile has loaded.
const SodiumLibrary& sodium() {
    return SodiumLibrary::get("keeping a secret");
}

unsigned char* raw(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}
const unsigned char* raw(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

// Another process holds it while it writes. One that holds it longer hangs, and is not waited for without end.
UniqueFd lock_secrets(const std::string& path) {
    constexpr int max_tries = 1000;
    constexpr auto between = std::chrono::milliseconds(10);
    UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock.valid()) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot open {}", path), errno);
    }
    for (int tries = 1; ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0; ++tries) {
        if (errno == EWOULDBLOCK && tries < max_tries) {
            std::this_thread::sleep_for(between);
        } else if (errno != EINTR) {
            throw system_error(ErrorCode::store_failed, fmt::format("cannot lock {}", path), errno,
                               "another cellgate may be stuck: end it");
        }
    }
    return lock;
}

std::optional<std::string> decrypt(std::string_view file, std::string_view key) {
    constexpr std::size_t around = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES;
    if (key.size() != crypto_secretbox_KEYBYTES || !file.starts_with(magic) || file.size() < magic.size() + around) {
        return std::nullopt;
    }
    file.remove_prefix(magic.size());
    const std::string_view nonce = file.substr(0, crypto_secretbox_NONCEBYTES);
    file.remove_prefix(nonce.size());
    std::string text(file.size() - crypto_secretbox_MACBYTES, '\0');
    const int status = sodium().secretbox_open_easy(raw(text), raw(file), file.size(), raw(nonce), raw(key));
    return status == 0 ? std::optional(std::move(text)) : std::nullopt;
}

std::string encrypt(std::string_view text, std::string_view key) {
    std::string nonce(crypto_secretbox_NONCEBYTES, '\0');
    sodium().randombytes_buf(nonce.data(), nonce.size());
    std::string box(text.size() + crypto_secretbox_MACBYTES, '\0');
    sodium().secretbox_easy(raw(box), raw(text), text.size(), raw(nonce), raw(key));
    return std::string(magic) + nonce + box;
}

} // namespace

SecretFile::SecretFile(std::string directory, const std::string& name, std::string without)
    : directory_(std::move(directory)), path_(fmt::format("{}/{}", directory_, name)), key_path_(path_ + ".key"),
      needed_for_("keeping " + name), without_(std::move(without)) {}

SecretFile::Version SecretFile::version() const {
    struct stat status{};
    if (::lstat(path_.c_str(), &status) != 0) {
        return Version{};
    }
    const std::int64_t changed = static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                                 static_cast<std::int64_t>(status.st_mtim.tv_nsec);
    return Version{status.st_dev, status.st_ino, status.st_size, changed};
}

std::optional<std::string> SecretFile::read() const {
    if (version() == Version{}) {
        return std::nullopt; // for which no library is needed
    }
    SodiumLibrary::get(needed_for_);
    std::string problem = "it is damaged, or its key is";
    try {
        const std::optional<std::string> file = read_private_file(path_, max_secret_bytes);
        if (!file) {
            return std::nullopt;
        }
        if (std::optional<std::string> text =
                decrypt(*file, read_private_file(key_path_, max_secret_bytes).value_or(""))) {
            return text;
        }
    } catch (const Error& error) {
        problem = error.message;
    }
    log_warning("{} is not used, and {}: {}", path_, without_, problem);
    return std::nullopt;
}

SecretFile::Version SecretFile::replace(const std::function<std::string(std::optional<std::string>)>& change) const {
    SodiumLibrary::get(needed_for_);
    make_private_directory(directory_);
    const UniqueFd lock = lock_secrets(path_ + ".lock");
    const std::string text = change(read());
    std::string key = read_private_file(key_path_, max_secret_bytes).value_or("");
    if (key.size() != crypto_secretbox_KEYBYTES) {
        key.assign(crypto_secretbox_KEYBYTES, '\0');
        sodium().randombytes_buf(key.data(), key.size());
        write_private_file(directory_, key_path_, key);
    }
    write_private_file(directory_, path_, encrypt(text, key));
    return version();
}

} // namespace cellgate::store
