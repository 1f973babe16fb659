#include "lsp/approval_text.hpp"

#include "approval_prompt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace cellgate::cli::lsp {

namespace {

constexpr std::size_t max_shown_bytes = std::size_t{16} << 10;
// What fits into a terminal of 24 rows and 80 columns, with the answers below it: Helix crashes when that does not.
constexpr std::size_t max_window_rows = 12;
constexpr std::size_t window_columns = 60;

std::size_t rows_in_window(std::string_view text) {
    std::size_t rows = 0;
    while (true) {
        const std::size_t end = text.find('\n');
        const std::size_t length = end == std::string_view::npos ? text.size() : end;
        rows += 1 + length / window_columns;
        if (end == std::string_view::npos) {
            return rows;
        }
        text.remove_prefix(end + 1);
    }
}

} // namespace

std::optional<std::string> whole_text(const protocol::Approval& approval, Room room) {
    std::string text = "waits for your answer: ";
    text += fmt::format("{}", fmt::join(approval.display, "\n"));
    if (approval.definition_changes) {
        text += "\nthe tool is not as you last allowed it:\n";
        text += fmt::format("{}", fmt::join(*approval.definition_changes, "\n"));
    }
    if (approval.agent) {
        text += fmt::format("\nfor the agent {}", *approval.agent);
    }
    if (text.size() > max_shown_bytes || (room == Room::window && rows_in_window(text) > max_window_rows)) {
        return std::nullopt;
    }
    return text;
}

std::string shown_text(const protocol::Approval& approval, Room room) {
    return whole_text(approval, room).value_or(reference_text(approval));
}

std::string reference_text(const protocol::Approval& approval) {
    return fmt::format(
        "waits for your answer: {}\ntoo long to be shown here; `cellgate approvals allow {}` shows all of it",
        approval.display.front(), ApprovalPrompt::short_id(approval.approval_id));
}

} // namespace cellgate::cli::lsp
