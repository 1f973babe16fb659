#pragma once
// `demo_tour` and `demo_filesystem` are the cells of `cellgate demo`: a small tour as an agent might write it.

#include <string_view>

namespace cellgate::cli {

extern const std::string_view demo_tour;       // with the built-in tool server `host`
extern const std::string_view demo_filesystem; // with the MCP server `filesystem`

} // namespace cellgate::cli
