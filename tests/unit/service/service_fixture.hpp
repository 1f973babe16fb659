#pragma once
// `ConnectionPair` has both ends of a conversation in memory.

#include "base/memory_stream.hpp"
#include "protocol/connection.hpp"

#include <memory>

namespace service_fixture {

using namespace cellgate;

struct ConnectionPair {
    ConnectionPair() {
        auto [one, other] = memory_stream_pair();
        ours = std::make_shared<protocol::FramedConnection>(std::move(one), protocol::Framing::content_length);
        theirs = std::make_shared<protocol::FramedConnection>(std::move(other), protocol::Framing::content_length);
    }
    std::shared_ptr<protocol::Connection> ours;
    std::shared_ptr<protocol::Connection> theirs;
};

} // namespace service_fixture
