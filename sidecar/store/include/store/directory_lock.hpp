#pragma once
// `DirectoryLock` is a lock (flock) on a directory, which its sidecar holds for its lifetime.

#include <string>

namespace cellgate::store {

class DirectoryLock {
  public:
    // Does not wait. Held only if, once locked, `path` still names that directory and it belongs to this user: not a
    // link, and not removed or replaced meanwhile.
    explicit DirectoryLock(const std::string& path);
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;
    ~DirectoryLock();

    bool held() const { return fd_ >= 0; }

  private:
    int fd_ = -1;
};

} // namespace cellgate::store
