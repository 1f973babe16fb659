#pragma once
// `search_tools` ranks the tools of a catalogue for a query in words, by BM25F: over names, titles, descriptions and
// arguments, with plain stems, words that begin alike, and words that mean the same in catalogues of tools.

#include "protocol/messages/tool_servers.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::tools {

struct SearchedTool {
    std::string server;
    std::string name;
    std::string title;
    std::vector<std::string> sentences; // of its description
    // Of its input schema, with what is nested:
    std::string argument_names; // words
    std::string argument_descriptions;
    std::string values; // the strings that an argument may be
};

SearchedTool searched_tool(const std::string& server, const protocol::ToolInfo& tool);

// The first sentence or line of its description, or its title: at most 160 bytes, safe to show.
std::string summary_of(const protocol::ToolInfo& tool);

// The places in `tools` of those that fit, the best first, at most `limit`. Pure; takes a few milliseconds for a
// thousand tools.
std::vector<std::size_t> search_tools(const std::vector<SearchedTool>& tools, std::string_view query,
                                      std::size_t limit);

} // namespace cellgate::tools
