#pragma once
// What an execution printed and showed, as an MCP client takes it: plain text and pictures, in pages of a bounded size.
// It is read from the journal, so that a page and the next one make the whole whatever was cut.

#include "agent_link.hpp"
#include "mcp/content.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace cellgate::cli {

inline constexpr std::size_t default_output_characters = 20'000;
inline constexpr std::size_t most_output_characters = 1'000'000;

struct OutputPage {
    mcp::Content content;            // text and pictures in their order
    std::string text;                // the text alone
    std::optional<std::string> next; // where the next page begins; nothing when all was read
    bool cut = false;                // there is more now
};

// `cursor`: of an earlier page; none: from the beginning. Text is cut at `characters`. Throws Error{invalid_params} for
// a cursor that is none, and what output/read does.
Task<OutputPage> read_output_page(AgentLink* link, std::shared_ptr<mcp::ToolCall> on_behalf, std::string execution_id,
                                  std::optional<std::string> cursor, std::size_t characters);

// Without what a terminal would act on: colours, movements, titles.
std::string plain_text(std::string_view text);

} // namespace cellgate::cli
