#pragma once
// `ChannelOriginParams` is the kernel's report on the line that makes a connection, on the tool channel
// (schemas/channel.json).

#include "protocol/peer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::protocol {

// Which line is about to connect, or to start a program that may. All of it is what the code says.
struct ChannelOriginParams {
    std::optional<std::int64_t> line;
    std::optional<std::string> execution;
    std::optional<std::int64_t> socket;
    std::optional<std::int64_t> thread;
    std::optional<std::vector<std::int64_t>> children;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("line", self.line);
        visit("execution", self.execution);
        visit("socket", self.socket);
        visit("thread", self.thread);
        visit("children", self.children);
    }
};

struct ChannelOrigin : Notification<ChannelOriginParams> {
    static constexpr std::string_view name = "network/origin";
};

} // namespace cellgate::protocol
