#pragma once
// `CallContext` is on whose behalf a tool is called, by the sidecar's own records. It decides what a user sees beside
// the call itself, and which rules of an execution or a session apply.

#include "gate/agent.hpp"
#include "protocol/messages/policy.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

// Receives how far a call is, in one line; without words: it has ended.
using OnCallProgress =
    std::function<void(const std::string& server, const std::string& tool, std::optional<std::string> words)>;

struct CallContext {
    std::optional<std::string> session_id;
    std::optional<std::string> execution_id;         // what runs in that session now
    bool from_code = false;                          // came over the kernel's channel
    std::optional<gate::Agent> agent;                // whose execution it is, or whose call
    std::optional<protocol::Origin> origin;          // its line is what the code says
    std::optional<std::vector<std::string>> servers; // the only ones that may be called
    bool asks_before_programs = false;               // the session's kernel does, by the server `kernel`
    OnCallProgress on_progress;                      // may be empty
    // May be empty. A user wants to see what this call answers ("server/tool") before an agent does: called before
    // anything of it is reported.
    std::function<void(const std::string& tool)> on_reviewed;
};

} // namespace cellgate::tools
