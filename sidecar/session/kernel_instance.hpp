#pragma once
// `Session::KernelInstance` is one start of a session's kernel with everything that belongs to it alone: its directory,
// its tool channel, its proxy, its process.

#include "connection_attribution.hpp"
#include "session/session.hpp"
#include "store/locked_temp_dir.hpp"

namespace cellgate::session {

struct Session::KernelInstance {
    store::LockedTempDir temp_dir; // its files and sockets; removed at the end
    std::unique_ptr<tools::Channel> channel;
    std::unique_ptr<egress::Proxy> proxy; // in a sandbox
    ConnectionAttribution attribution;    // of connections
    TaskScope serving;                    // of both
    sandbox::Profile profile;
    std::shared_ptr<const sandbox::KernelMounts> mounts; // in a sandbox
    std::unique_ptr<sandbox::ControlGroup> group;        // that the kernel is in; nothing where none can be had
    std::unique_ptr<jupyter::Kernel> kernel;
    bool interrupt_by_signal = false;
    std::optional<std::string> lost; // why nothing more may run on it

    // Accepts no further tool calls or connections.
    void close_channels() {
        if (channel) {
            channel->close();
        }
        if (proxy) {
            proxy->close();
        }
    }
};

} // namespace cellgate::session
