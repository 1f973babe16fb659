#pragma once
// One start of a session's kernel, with all that belongs to it alone: its directory, its tool channel, its process.

#include "session/session.hpp"

namespace cellgate::session {

struct Session::Start {
    std::string directory; // removed at the end
    std::unique_ptr<tools::Channel> channel;
    TaskScope serving; // of the channel
    std::unique_ptr<jupyter::Kernel> kernel;
    bool interrupt_by_signal = false;
    std::optional<std::string> lost; // why nothing more is to be run on it
};

} // namespace cellgate::session
