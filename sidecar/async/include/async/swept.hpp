#pragma once
// What must not stay on the machine when this process ends, however it ends: folders with a kernel's key and sockets,
// control groups. One small process (helper/sweep.hpp), started with the first of them, is told of each before it is
// made. It removes those that are still there, and that nobody holds locked, when whoever made them has let go of them
// or this process has ended.

#include <string>

namespace cellgate::async {

enum class SweptKind {
    folder,        // with all that is in it
    control_group, // as soon as nothing runs in it any more
};

class Swept {
  public:
    // `path` is absolute, in a folder that only we can write; made after this, locked (flock) while it is in use.
    // Throws Error{internal_error} when there is nobody to tell it to. Any thread.
    Swept(SweptKind kind, const std::string& path);
    Swept(const Swept&) = delete;
    Swept& operator=(const Swept&) = delete;
    ~Swept(); // it is to be gone now

  private:
    std::string message_;
};

} // namespace cellgate::async
