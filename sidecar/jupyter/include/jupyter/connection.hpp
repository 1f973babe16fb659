#pragma once
// `ConnectionInfo` is how the sidecar and one kernel process reach each other: unix sockets (ZeroMQ's `ipc`) in a
// private directory, and the key that signs messages. Any process that can write into the directory or holds the key
// can act as the kernel. A kernel that listens on TCP ports only is reached through such sockets, too: something
// carries them to its ports (helper/kernel_bridge.hpp).

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace cellgate::jupyter {

enum class Channel { shell = 1, iopub, stdin_, control, heartbeat };

struct ConnectionInfo {
    std::string file;          // the connection file that the kernel reads, 0600
    std::string socket_prefix; // sockets are `<prefix>-<number of the channel>`
    std::string key;
    // Of a kernel that already runs: "ipc:///path" or "tcp://host:port", in place of the prefix.
    std::map<Channel, std::string> endpoints;
    // The kernel buffers unread output without limit. Other kernels drop it, so all of it must be read at once.
    bool kernel_keeps_output = false;
    // For a kernel whose idle may overtake output: a function of its language that prints its argument, a string, in
    // the way that all output takes. Empty: none is needed.
    std::string print_function;
    // It is interrupted by SIGINT, as it does not understand the message for that.
    bool interrupt_by_signal = false;

    std::string endpoint(Channel channel) const;
};

// `KernelSocket` is a socket that the kernel has bound. In a kernel's own directory it is held by its inode: connecting
// to `endpoint()` reaches this socket, even if the kernel replaces its path later.
class KernelSocket {
  public:
    explicit KernelSocket(int fd) : fd_(fd) {}
    explicit KernelSocket(std::string endpoint) : endpoint_(std::move(endpoint)) {}
    KernelSocket(KernelSocket&& other) noexcept
        : fd_(std::exchange(other.fd_, -1)), endpoint_(std::move(other.endpoint_)) {}
    KernelSocket& operator=(KernelSocket&& other) noexcept {
        std::swap(fd_, other.fd_);
        std::swap(endpoint_, other.endpoint_);
        return *this;
    }
    ~KernelSocket();

    std::string endpoint() const;

  private:
    int fd_ = -1;
    std::string endpoint_; // of a kernel that already ran
};

// Nothing until the socket exists; at once for a kernel that already runs, whether it listens or not. In its sandbox a
// kernel can create any file in the directory, but only sockets of its own; a link, which could point to another
// process's socket, throws Error{kernel_start_failed}.
std::optional<KernelSocket> open_socket(const ConnectionInfo& connection, Channel channel);

// Makes a key and writes the connection file into `directory`, which exists, is 0700 and is used for this one start (a
// kernel may leave anything in its directory, so a file that is already there is an error). Throws Error{
// kernel_start_failed}, also when a socket's path would be over 107 bytes. `first_port`: the kernel is to listen on
// that port of 127.0.0.1 and the four that follow, one for each channel.
ConnectionInfo create_connection(const std::string& directory, std::optional<int> first_port = std::nullopt);

} // namespace cellgate::jupyter
