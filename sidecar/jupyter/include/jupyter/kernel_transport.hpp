#pragma once
// `KernelTransport` carries the messages between one client and its kernel, on the kernel's channels. Each channel
// keeps its order; the channels keep none among each other. It is owned by the client (kernel_client.hpp), which
// starts it and has awaited close() before it is destroyed.

#include "async/loop.hpp"
#include "base/task.hpp"
#include "jupyter/connection.hpp"
#include "jupyter/wire.hpp"

#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace cellgate::jupyter {

// `TransportListener` receives what a transport reads, in the order of arrival. It must not end the transport.
struct TransportListener {
    virtual ~TransportListener() = default;
    virtual void on_message(Channel channel, WireMessage message) = 0;
    // Something came that is no valid message.
    virtual void on_invalid(const std::string& why) = 0;
    // The kernel's side left out output of the execution `parent`.
    virtual void on_output_lost(const std::string& parent, const std::string& why) = 0;
    // The connection ended: messages of both sides that were on their way may be lost, and none is sent until
    // on_connected(). The transport connects again by itself.
    virtual void on_cut() = 0;
    virtual void on_unreachable(const std::string& why) = 0;
    virtual void on_connected() = 0;
    // It carries nothing any more.
    virtual void on_failed(std::exception_ptr error) = 0;
};

struct KernelTransport {
    virtual ~KernelTransport() = default;
    // Called once, before all others. `listener` outlives the transport.
    virtual void start(TransportListener& listener) = 0;
    // Never waits. `parent` and `content` are JSON objects.
    virtual void send(Channel channel, const Header& header, std::string_view parent, std::string_view content) = 0;
    // Why nothing was received so far: "the kernel did not answer in time".
    virtual std::string silence() const = 0;
    virtual Task<void> close() = 0;
};

// ZeroMQ over the sockets that the kernel binds.
std::unique_ptr<KernelTransport> zmq_transport(async::Loop& loop, const ConnectionInfo& connection);

} // namespace cellgate::jupyter
