#pragma once
// `whole_text` is an action that waits for an answer, as an editor shows it in a diagnostic or a message.

#include "protocol/messages/policy.hpp"

#include <optional>
#include <string>

namespace cellgate::cli::lsp {

// Nothing for what is too long there, 16 KiB: a yes to that is given where all of it is shown.
std::optional<std::string> whole_text(const protocol::Approval& approval);
// The same for a question of the editor's, which has less room: 12 rows.
std::optional<std::string> whole_text_in_window(const protocol::Approval& approval);
// whole_text or reference_text.
std::string shown_text(const protocol::Approval& approval);
// Its first line, and where the rest is shown.
std::string reference_text(const protocol::Approval& approval);
// The beginning of its id, by which `cellgate approvals` takes it.
std::string short_id(const protocol::Approval& approval);

} // namespace cellgate::cli::lsp
