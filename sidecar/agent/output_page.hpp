#pragma once
// `OutputPage` is a bounded part of an execution's output for an MCP client: plain text and pictures. It is read from
// the journal, so that consecutive pages give the whole output.

#include "mcp/content.hpp"
#include "sidecar_client.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::agent {

inline constexpr std::size_t default_output_characters = 20'000;
inline constexpr std::size_t max_output_characters = 1'000'000;

struct OutputPage {
    mcp::Content content;            // text and pictures in their order
    std::optional<std::string> next; // cursor of the next page; nothing at the end
    bool cut = false;                // there is more output already
    std::string withheld;            // in a line, why what follows is not the agent's to see; empty: nothing is
    // Of read_output_ends():
    std::size_t left_out = 0;  // characters between the content and `end`
    std::string end;           // of the output
    bool is_shortened = false; // the content is a JSON document of which `next` gives all
};

// How an agent reads more, in words.
std::string where_all_is(const std::string& execution_id, const std::string& cursor,
                         std::string_view what = "all of it");

// `cursor`: from an earlier page; none: the first page. Text is cut at `characters`. Throws Error{invalid_params} for
// an invalid cursor, and what output/read does.
Task<OutputPage> read_output_page(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf,
                                  std::string execution_id, std::optional<std::string> cursor, std::size_t characters);
// The output of an execution that has ended, with brief tracebacks: all of it, or where it is longer its beginning and
// its end, or of a JSON document what cut_json() leaves. Of more than 4 MiB the first page. Throws as above.
Task<OutputPage> read_output_ends(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf,
                                  std::string execution_id, std::size_t characters);

} // namespace cellgate::agent
