#include "token_file.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/names.hpp"
#include "base/regular_file.hpp"
#include "base/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::agent {

namespace {

constexpr std::size_t max_token_bytes = 4096;
constexpr std::size_t least_token_bytes = 16; // fewer could be guessed

} // namespace

std::string read_token(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status{};
    if (!file.valid() || ::fstat(file.get(), &status) != 0) {
        throw system_error(ErrorCode::config_invalid, fmt::format("cannot open {}", path), errno);
    }
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 0077) != 0) {
        throw Error(ErrorCode::config_invalid, fmt::format("expected {} to be a file that only you can read", path),
                    fmt::format("chmod 600 {}", shell_word(path)));
    }
    RegularFile found = read_regular_file(fmt::format("/proc/self/fd/{}", file.get()), max_token_bytes);
    std::string& token = found.bytes;
    token.erase(token.find_last_not_of(" \t\r\n") + 1);
    const bool is_word = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (found.error != 0 || token.empty() || !is_word || token.size() == max_token_bytes) {
        throw Error(ErrorCode::config_invalid, fmt::format("expected {} to hold one word, the token", path),
                    "for example: openssl rand -hex 32");
    }
    if (token.size() < least_token_bytes) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected {} to hold a token of at least {} characters", path, least_token_bytes),
                    "for example: openssl rand -hex 32");
    }
    return token;
}

OwnTokenFile::OwnTokenFile(std::string path) : path_(std::move(path)), token_(random_id() + random_id()) {
    ReplacementFile file(AT_FDCWD, path_ + ".", 0600);
    if (!file.valid() || !write_all(file.fd(), token_ + "\n") || !file.commit(path_)) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot write {}", path_), errno);
    }
}

OwnTokenFile::~OwnTokenFile() {
    ::unlink(path_.c_str());
}

} // namespace cellgate::agent
