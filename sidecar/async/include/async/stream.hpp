#pragma once
// `SocketStream`, `UnixStream` and `UnixListener` are byte streams of the system: pipes, unix sockets, the process's
// own stdin and stdout.

#include "async/loop.hpp"
#include "base/byte_stream.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace cellgate::async {

// Takes ownership of both descriptors (they may be the same; pipes, sockets, terminals and files all work).
std::unique_ptr<ByteStream> open_stream(Loop& loop, int read_fd, int write_fd);

struct SocketStream : ByteStream {
    // Half-close: the peer reads the end after all queued bytes; reading from the peer goes on.
    virtual void close_output() = 0;
    // The peer reads nothing more: written bytes are dropped.
    virtual bool peer_gone() const = 0;
    // close() that drops queued bytes.
    virtual void abort() = 0;
};

// A connected unix socket.
struct UnixStream : SocketStream {
    // The pid of the listening process according to SO_PEERCRED; 0 if unknown.
    virtual std::int64_t listener() const = 0;
};

// Throws Error{internal_error} with errno's text. A path over 107 bytes is refused.
Task<std::unique_ptr<UnixStream>> connect_unix(Loop& loop, std::string path);

class ListeningSocket;

// A listening unix socket with mode 0600, removed when it closes. Processes of other users are refused (SO_PEERCRED).
// close() makes a waiting accept() return nothing.
class UnixListener {
  public:
    UnixListener(Loop& loop, std::string path);
    ~UnixListener();
    Task<std::unique_ptr<SocketStream>> accept(); // nullptr once closed
    void close();

  private:
    Loop& loop_;
    std::string path_;
    std::shared_ptr<ListeningSocket> socket_; // also of an accept() that waits
};

// Waits until this process gets `signal` (SIGTERM, SIGINT, SIGWINCH …).
Task<void> wait_for_signal(Loop& loop, int signal);

} // namespace cellgate::async
