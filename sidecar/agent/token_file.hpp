#pragma once
// `read_token` and `OwnTokenFile` are the token that requests over HTTP need: of a file that the user names, or of one
// that this process makes.

#include <string>

namespace cellgate::agent {

// Throws Error{config_invalid} unless it is a regular file that only its owner can read, with one word in it.
std::string read_token(const std::string& path);

// A new token in a file that only this user can read, until it is destroyed.
class OwnTokenFile {
  public:
    // Throws Error{store_failed}.
    explicit OwnTokenFile(std::string path);
    OwnTokenFile(const OwnTokenFile&) = delete;
    OwnTokenFile& operator=(const OwnTokenFile&) = delete;
    ~OwnTokenFile();

    const std::string& path() const { return path_; }
    const std::string& token() const { return token_; }

  private:
    std::string path_;
    std::string token_;
};

} // namespace cellgate::agent
