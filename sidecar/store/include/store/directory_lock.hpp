#pragma once
// A sidecar's directory is locked (flock) while it lives.

#include <string>

namespace cellgate::store {

class DirectoryLock {
  public:
    // Does not wait. Held is what `path` still names once it is locked, and only a directory of this user's: no link to
    // one, and none that was removed or replaced meanwhile.
    explicit DirectoryLock(const std::string& path);
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;
    ~DirectoryLock();

    bool held() const { return fd_ >= 0; }

  private:
    int fd_ = -1;
};

} // namespace cellgate::store
