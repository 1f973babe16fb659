#pragma once
// `CommListener` is the ChannelListener of a kernel that has no socket to us: connections of its code are carried by
// messages of a Jupyter comm, with kernel/comm_channel.py on the other side. What the kernel sends is untrusted. What
// it sends and is not read is bounded: a connection with more than 16 MiB of it ends, and so do those beyond 64 that
// wait to be accepted.

#include "base/clock.hpp"
#include "tools/channel_listener.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace cellgate::tools {

class CommListener final : public ChannelListener {
  public:
    // `send` sends the content of a comm_msg to the kernel, and may lose it.
    CommListener(Clock& clock, std::string comm_id, std::function<void(std::string content)> send);
    CommListener(const CommListener&) = delete;
    CommListener& operator=(const CommListener&) = delete;
    ~CommListener() override;

    // The content of a comm_msg of the kernel, a JSON object; that of another comm is ignored.
    void receive(std::string_view content);
    // Sends again what the kernel has not acknowledged for 2 s, then more rarely. Until cancelled.
    Task<void> repeat();
    // After a connection to the kernel that was cut: both sides send again what is not acknowledged, at once. Returns
    // when the kernel was heard, or after 2 s.
    Task<void> catch_up();

    Task<std::unique_ptr<ByteStream>> accept() override;
    void close() override;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace cellgate::tools
