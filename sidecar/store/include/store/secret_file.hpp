#pragma once
// `SecretFile` is a text that is kept encrypted (libsodium's secretbox): the file itself, and its key in another one
// beside it, both for this user alone. That keeps secrets out of what copies or searches files one by one; who can read
// both has them. All functions block. Several processes may use it: each change is made under a lock, and replaces the
// file atomically, so that it is the old or the new one whenever a process is killed.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace cellgate::store {

class SecretFile {
  public:
    // What tells one state of the file from another.
    struct Version {
        std::uint64_t device = 0;
        std::uint64_t inode = 0; // 0: there is no file
        std::int64_t size = 0;
        std::int64_t changed = 0; // nanoseconds
        bool operator==(const Version&) const = default;
    };

    // `directory` is made when something is kept. Nothing is read yet. `name`: of the file, and what is kept in it
    // ("logins"). `without`: what is so while it cannot be decrypted, for the log.
    SecretFile(std::string directory, const std::string& name, std::string without);

    Version version() const;
    // Nothing if there is no file, or one that cannot be decrypted, which is logged. Throws Error{store_failed} where
    // there is no libsodium.
    std::optional<std::string> read() const;
    // `change` gets what read() gives. Returns the version that was made. Throws Error{store_failed}, and what `change`
    // throws.
    Version replace(const std::function<std::string(std::optional<std::string>)>& change) const;

    const std::string& path() const { return path_; }

  private:
    std::string directory_;
    std::string path_;
    std::string key_path_;
    std::string needed_for_; // "keeping logins"
    std::string without_;
};

} // namespace cellgate::store
