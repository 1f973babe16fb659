#pragma once
// `ConnectionPair` has both ends of a conversation in memory.

#include "base/memory_stream.hpp"
#include "gate/gate.hpp"
#include "protocol/connection.hpp"

#include <filesystem>
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

// Of a gate with a workspace and stored rules in `folder`.
inline gate::GateOptions gate_options(const std::filesystem::path& folder) {
    std::filesystem::create_directory(folder / "workspace");
    gate::GateOptions options;
    options.root = folder / "workspace";
    options.policy_directory = folder / "policy";
    options.run_blocking = run_inline;
    return options;
}

} // namespace service_fixture
