#pragma once
// `note_of_install` is the note for a cell that calls pip, and `note_of_missing` the one for a cell that imports what
// is not there: they name the command with which a user installs the packages permanently.

#include "protocol/messages/executions.hpp"
#include "session/failures.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

// For code with a line such as `%pip install requests` or `!pip install requests`. The command names exactly the
// packages of the line; if cellgate cannot install them that way, the note names the part of the line that prevents it.
// `outside`: the interpreter, if cellgate cannot install for it but the user can; `in_image`: it is one of an image.
std::optional<protocol::Note> note_of_install(const std::string& code, const std::optional<std::string>& outside = {},
                                              bool in_image = false);

// The note for code that imported what is not there. The others: as above.
protocol::Note note_of_missing(const MissingModule& missing, const std::optional<std::string>& outside,
                               bool in_image = false);

// Whether a file or folder in one of `folders` is the module's; the dots of its name are folders. May block (file
// system).
bool is_module_of(const std::vector<std::string>& folders, const std::string& name);

} // namespace cellgate::session
