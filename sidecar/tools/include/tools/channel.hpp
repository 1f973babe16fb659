#pragma once
// `Channel` is the kernel's tool channel: connections over which code in the kernel calls tools, one JSON-RPC message a
// line (schemas/channel.json). Every byte on it is untrusted. It takes tool calls,
// cancels and line numbers; who calls, and from what source text, comes from the sidecar's records. At most 64
// connections; the next ones wait. What the code does not read of its answers is bounded over all of them: an answer
// beyond that becomes an error, and where not even that has room, its connection is closed. A connection that ends
// cancels its calls. Owned by the session, one for each start of its kernel.

#include "async/loop.hpp"
#include "protocol/messages/network.hpp"
#include "tools/call_context.hpp"
#include "tools/channel_listener.hpp"
#include "tools/tool_call_dispatcher.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::tools {

// What the session knows about itself at the moment of a call.
struct CallerIdentity {
    virtual ~CallerIdentity() = default;
    // `named`: what the line of the call has in it, where the code reports no line.
    virtual CallContext current_call(std::optional<std::int64_t> reported_line, const std::string& named) = 0;
    // What the code says before it connects or starts a program. The second: what it said may lack something from here.
    virtual void record_origin(protocol::ChannelOriginParams told) = 0;
    virtual void clear_origins() = 0;
};

class Channel {
  public:
    Channel(async::Loop& loop, std::shared_ptr<ChannelListener> listener, ToolCallDispatcher& dispatcher,
            CallerIdentity& running);
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    ~Channel();

    // Serves until close(), or until cancelled; then every call is cancelled and every connection closed.
    Task<void> run();
    // Cancels every call that waits or runs now: what the code does was interrupted.
    void cancel_calls();
    void close();

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace cellgate::tools
