#pragma once
// `CleanupRegistration` guarantees that a path is removed when this process ends, however it ends: a folder with a
// kernel's key and sockets, or a control group. One small process, the janitor (helper/janitor.hpp), starts with the
// first registration and learns each path before it is created. It removes every path that still exists and is not
// locked, once its registration is destroyed or this process has ended.

#include <string>

namespace cellgate::async {

enum class CleanupKind {
    folder,        // with its contents
    control_group, // as soon as nothing runs in it any more
};

class CleanupRegistration {
  public:
    // `path` is absolute, in a folder that only this user can write; created after this call, and locked (flock) while
    // it is in use. Throws Error{internal_error} when the janitor cannot be started. Any thread.
    CleanupRegistration(CleanupKind kind, const std::string& path);
    CleanupRegistration(const CleanupRegistration&) = delete;
    CleanupRegistration& operator=(const CleanupRegistration&) = delete;
    ~CleanupRegistration(); // removes the path, through the janitor

  private:
    std::string message_;
};

} // namespace cellgate::async
