#pragma once
// `SandboxChoice` is the choice whether a kernel or a tool server runs in a sandbox, in which one, and which paths of
// the user it sees there. In JSON: true, false, or an object with a launcher, an image, a settings file and what is
// added.

#include "protocol/messages/sandbox.hpp"

namespace cellgate::protocol {

bool is_empty(const SandboxAdditions& additions);

struct SandboxChoice {
    bool isolated = true;
    std::optional<SandboxLauncher> launcher = {}; // of sessions
    std::optional<std::string> config_file;
    SandboxAdditions additions = {};       // of sessions
    std::optional<std::string> image = {}; // of sessions
};
void read(std::string_view text, const std::string& path, SandboxChoice& out);
void write(std::string& out, const SandboxChoice& value);

} // namespace cellgate::protocol
