#pragma once
// `Implementation` is the name and version that an MCP program reports for itself.

#include <string>

namespace cellgate::mcp {

struct Implementation {
    std::string name;
    std::string version;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("version", self.version);
    }
};

} // namespace cellgate::mcp
