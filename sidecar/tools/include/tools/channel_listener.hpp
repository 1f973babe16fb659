#pragma once
// `ChannelListener` is where the code of a kernel connects to its tool channel: a unix socket, or a comm of the kernel
// (comm_listener.hpp).

#include "async/loop.hpp"
#include "base/byte_stream.hpp"
#include "base/task.hpp"

#include <memory>
#include <string>

namespace cellgate::tools {

struct ChannelListener {
    virtual ~ChannelListener() = default;
    // The next connection of the code; nullptr once closed. Throws Error{internal_error}.
    virtual Task<std::unique_ptr<ByteStream>> accept() = 0;
    // Makes a waiting accept() return nothing.
    virtual void close() = 0;
};

// Throws Error{internal_error} for a path over 107 bytes or in use.
std::shared_ptr<ChannelListener> listen_on_socket(async::Loop& loop, std::string path);

} // namespace cellgate::tools
