#pragma once
// `DirectoryLock` is a lock (flock) on a directory, which its sidecar holds for its lifetime.

#include "base/unique_fd.hpp"

#include <string>

namespace cellgate::store {

class DirectoryLock {
  public:
    // Does not wait. Held only if, once locked, `path` still names that directory and it belongs to this user: not a
    // link, and not removed or replaced meanwhile.
    explicit DirectoryLock(const std::string& path);

    bool held() const { return directory_.valid(); }

  private:
    UniqueFd directory_; // the lock ends with the descriptor
};

} // namespace cellgate::store
