#pragma once
// The note beside a cell that calls pip: which command of a person's has the packages for good.

#include "protocol/messages/executions.hpp"

#include <optional>
#include <string>

namespace cellgate::session {

// Of code with a line such as `%pip install requests` or `!pip install requests`. The command names exactly the
// packages that the line names; where they cannot be had so, the note says what of the line stands against it.
// `outside`: the interpreter, where cellgate cannot install for it, but the person can.
std::optional<protocol::Note> note_of_install(const std::string& code, const std::optional<std::string>& outside = {});

} // namespace cellgate::session
