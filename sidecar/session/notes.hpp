#pragma once
// What a person is told beside a cell's output when the sandbox stood in the cell's way: what was refused, by what, and
// the one thing that would allow it. Notes go to clients; the code does not see them.

#include "base/host.hpp"
#include "gate/gate.hpp"
#include "protocol/messages/executions.hpp"
#include "sandbox/settings.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

// Of a connection that was refused without a person's no. `settings`: the session's, if it has a file.
protocol::Note note_of_refusal(const Endpoint& endpoint, const gate::Decision& decision,
                               const sandbox::Settings* settings);

// Of code that went past the proxy, and so reached nothing.
protocol::Note note_of_direct_connection();

// Adds `note` unless it is there already, or there are enough.
void add_note(std::optional<std::vector<protocol::Note>>& notes, protocol::Note note);

} // namespace cellgate::session
