#pragma once
// `note_of_install` is the note for a cell that calls pip: it names the command with which a user installs the packages
// permanently.

#include "protocol/messages/executions.hpp"

#include <optional>
#include <string>

namespace cellgate::session {

// For code with a line such as `%pip install requests` or `!pip install requests`. The command names exactly the
// packages of the line; if cellgate cannot install them that way, the note names the part of the line that prevents it.
// `outside`: the interpreter, if cellgate cannot install for it but the user can.
std::optional<protocol::Note> note_of_install(const std::string& code, const std::optional<std::string>& outside = {});

} // namespace cellgate::session
