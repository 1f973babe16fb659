#pragma once
// Makes a Python package of a tool server's tools: one module with a typed `run` and `run_async` for each. Pure: the
// same server name and tools give the same bytes. Everything that a tool says about itself is taken as hostile: it
// ends up in docstrings and literals that it cannot leave, and its names become identifiers that cannot collide.

#include "protocol/tool_spec.hpp"

#include <string>
#include <vector>

namespace cellgate::wrappers {

struct File {
    std::string path; // relative to the folder that holds mcptools/, parts joined by '/'
    std::string text;
};

struct Module {
    std::string tool;
    std::string module; // as in `from mcptools.<package> import <module>`
    std::string path;
};

struct Skipped {
    std::string tool;
    std::string reason;
};

struct Package {
    std::string server;
    std::string package; // as in `mcptools.<package>`
    std::vector<File> files;
    std::vector<Module> modules; // in the order of the tools
    std::vector<Skipped> skipped;
};

// A tool whose schema cannot be used is skipped, with the reason; the others are made. Never throws for a tool's sake.
Package generate(const std::string& server, const std::vector<protocol::ToolSpec>& tools);

} // namespace cellgate::wrappers
