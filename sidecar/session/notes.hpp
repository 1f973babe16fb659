#pragma once
// What a person is told beside a cell's output when the sandbox stood in the cell's way: what was refused, by what, and
// the one thing that would allow it. Notes go to clients; the code does not see them.

#include "base/host.hpp"
#include "protocol/messages/executions.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

// Of a connection that was refused without a person's no. `reason` is the gate's.
protocol::Note note_of_refusal(const Endpoint& endpoint, const std::string& reason);

// Of code with a line such as `%pip install requests` or `!pip install requests`: pip's requirements in it, which are
// not checked. `outside`: the interpreter, where cellgate cannot install for it, but the person can.
std::optional<protocol::Note> note_of_install(const std::string& code, const std::optional<std::string>& outside = {});

// Adds `note` unless it is there already, or there are enough.
void add_note(std::optional<std::vector<protocol::Note>>& notes, protocol::Note note);

} // namespace cellgate::session
