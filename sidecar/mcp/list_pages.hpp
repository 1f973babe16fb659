#pragma once
// `ListPages` joins the pages of a list of an MCP server (tools/list and the like), within bounds.

#include "base/raw_json.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cellgate::mcp {

class ListPages {
  public:
    // `member`: of each page, which has its items. `method`: for errors.
    ListPages(std::string method, std::string member) : method_(std::move(method)), member_(std::move(member)) {}

    // Returns the cursor of the next page; nothing if this is the last one. Throws Error{tool_server_failed} when the
    // page is broken, or the list does not end.
    std::optional<std::string> add(const RawJson& page);
    std::vector<RawJson> take() { return std::move(items_); }

  private:
    std::string method_;
    std::string member_;
    std::vector<RawJson> items_;
    std::set<std::string> cursors_;
    std::size_t bytes_ = 0;
};

} // namespace cellgate::mcp
