#include "lsp/approval_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <utility>

namespace cellgate::cli::lsp {

namespace {

constexpr std::size_t max_shown_bytes = std::size_t{16} << 10;
constexpr std::size_t short_id_length = 8;

} // namespace

std::optional<std::string> whole_text(const protocol::Approval& approval) {
    std::string text = "waits for your answer: ";
    text += fmt::format("{}", fmt::join(approval.display, "\n"));
    if (approval.definition_changes) {
        text += "\nthe tool is not as you last allowed it:\n";
        text += fmt::format("{}", fmt::join(*approval.definition_changes, "\n"));
    }
    if (approval.agent) {
        text += fmt::format("\nfor the agent {}", *approval.agent);
    }
    if (text.size() > max_shown_bytes) {
        return std::nullopt;
    }
    return text;
}

std::string shown_text(const protocol::Approval& approval) {
    if (std::optional<std::string> whole = whole_text(approval)) {
        return std::move(*whole);
    }
    return fmt::format(
        "waits for your answer: {}\ntoo long to be shown here; `cellgate approvals allow {}` shows all of it",
        approval.display.front(), short_id(approval));
}

std::string short_id(const protocol::Approval& approval) {
    return approval.approval_id.substr(0, short_id_length);
}

} // namespace cellgate::cli::lsp
