#pragma once
// `ListeningSocket` waits for the connections of a socket that listens already.

#include "async/loop.hpp"

#include <memory>
#include <string>

namespace cellgate::async {

class ListeningSocket {
  public:
    // Takes ownership of `fd`, which does not block. `name`: for errors, printable.
    ListeningSocket(Loop& loop, int fd, std::string name);
    ListeningSocket(const ListeningSocket&) = delete;
    ListeningSocket& operator=(const ListeningSocket&) = delete;
    ~ListeningSocket();

    // A connected socket, which is the caller's to close; -1 once this one is closed. Throws Error{internal_error}.
    Task<int> accept();
    // Makes a waiting accept() return. Whether it was open.
    bool close();

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace cellgate::async
