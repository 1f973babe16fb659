#pragma once
// `Content` is the list of blocks of a tool's result.

#include "protocol/messages/tool_servers.hpp"

#include <string>
#include <string_view>

namespace cellgate::mcp {

class Content {
  public:
    void add_text(std::string_view text);
    // `base64`: without white space, as MCP requires.
    void add_image(std::string_view mime, std::string_view base64);
    bool empty() const { return blocks_.empty(); }
    RawJson blocks() const { return RawJson::checked("[" + blocks_ + "]"); }

  private:
    void begin();
    std::string blocks_;
};

protocol::CallToolResult text_result(std::string_view text);
protocol::CallToolResult error_result(std::string_view text);

} // namespace cellgate::mcp
