#pragma once
// How we and one start of a kernel reach each other: unix sockets (ZeroMQ's `ipc`) in a private directory, and the key
// that signs messages. Whoever can write into the directory or holds the key is the kernel, as far as we can tell.

#include <string>

namespace cellgate::jupyter {

enum class Channel { shell = 1, iopub, stdin_, control, heartbeat };

struct ConnectionInfo {
    std::string file;          // the connection file that the kernel reads, 0600
    std::string socket_prefix; // sockets are `<prefix>-<number of the channel>`
    std::string key;

    std::string endpoint(Channel channel) const;
};

// Makes a key and writes the connection file into `directory`, which exists, is 0700 and is used for this one start (a
// kernel may leave anything in its directory, so a file that is already there is an error). Throws Error{
// kernel_start_failed}, also when a socket's path would be over 107 bytes.
ConnectionInfo create_connection(const std::string& directory);

} // namespace cellgate::jupyter
