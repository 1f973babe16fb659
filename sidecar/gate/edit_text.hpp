#pragma once
// `edit_text()` is a call's arguments laid out for a user who edits them: a line for each member, and every number and
// name as it was sent. A character that cannot be seen is an escape of JSON, so the text means what it shows.

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::gate {

// `json` is valid. Nothing when the text takes more than 8 MiB: too much to edit by hand.
std::optional<std::string> edit_text(std::string_view json);

} // namespace cellgate::gate
