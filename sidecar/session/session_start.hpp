#pragma once
// One start of a session's kernel, with all that belongs to it alone: its directory, its tool channel, its process.

#include "session/session.hpp"
#include "store/owned_directory.hpp"
#include "told_origins.hpp"

namespace cellgate::session {

struct Session::Start {
    store::OwnedDirectory owned; // its files and sockets; removed at the end
    std::unique_ptr<tools::Channel> channel;
    std::unique_ptr<egress::Proxy> proxy; // in a sandbox
    ToldOrigins origins;                  // of connections
    TaskScope serving;                    // of both
    sandbox::Profile profile;
    std::shared_ptr<const sandbox::KernelMounts> mounts; // in a sandbox
    std::unique_ptr<sandbox::ControlGroup> group;        // that the kernel is in; nothing where none can be had
    std::unique_ptr<jupyter::Kernel> kernel;
    bool interrupt_by_signal = false;
    std::optional<std::string> lost; // why nothing more is to be run on it

    // Nothing new comes out of it.
    void close_doors() {
        if (channel) {
            channel->close();
        }
        if (proxy) {
            proxy->close();
        }
    }
};

} // namespace cellgate::session
