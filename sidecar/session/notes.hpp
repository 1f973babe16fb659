#pragma once
// Notes are remarks for the user on a cell's output when the sandbox stopped the cell: the refused access, its cause,
// and the one change that allows it. Notes go to clients; the code does not see them.

#include "base/host.hpp"
#include "gate/gate.hpp"
#include "protocol/messages/executions.hpp"
#include "sandbox/settings.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

// For a connection or a request that was refused, but not by a user. `settings`: the session's, if it has a file.
protocol::Note note_of_refusal(const Endpoint& endpoint, const gate::Decision& decision,
                               const sandbox::Settings* settings);

// For a program that does not trust the authority by which this host, which is inspected, is served.
protocol::Note note_of_distrust(const Endpoint& endpoint);

// For code that bypassed the proxy, and so reached nothing.
protocol::Note note_of_direct_connection();

// For an agent's code that asked for input, and got none.
protocol::Note note_of_prompt();

// Adds `note` unless it is a duplicate or the list is full.
void add_note(std::optional<std::vector<protocol::Note>>& notes, protocol::Note note);

} // namespace cellgate::session
