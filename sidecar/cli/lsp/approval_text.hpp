#pragma once
// `whole_text` is an action that waits for an answer, as an editor shows it in a diagnostic or a message.

#include "protocol/messages/policy.hpp"

#include <optional>
#include <string>

namespace cellgate::cli::lsp {

// What a place of the editor's shows without cutting it.
enum class Room {
    document, // 16 KiB
    window,   // 12 rows: a question, and whatever Helix shows
};

// Nothing for what is too long there: a yes to that is given where all of it is shown.
std::optional<std::string> whole_text(const protocol::Approval& approval, Room room);
// whole_text or reference_text.
std::string shown_text(const protocol::Approval& approval, Room room);
// Its first line, and where the rest is shown.
std::string reference_text(const protocol::Approval& approval);

} // namespace cellgate::cli::lsp
