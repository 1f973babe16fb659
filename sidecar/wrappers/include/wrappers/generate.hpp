#pragma once
// `generate` makes a package of a tool server's tools: in Python one module with a typed `run` and `run_async` for
// each, in TypeScript one with a typed function. It is pure: the same server name and tools give the same bytes. Tool
// descriptions are hostile: they become comments and literals that they cannot leave, and names become identifiers that
// cannot collide.

#include "protocol/tool_spec.hpp"

#include <string>
#include <vector>

namespace cellgate::wrappers {

enum class Language { python, typescript };

struct File {
    std::string path; // relative to the folder that holds mcptools/, parts joined by '/'
    std::string text;
};

struct Module {
    std::string tool;
    std::string module; // as in `from mcptools.<package> import <module>`
    std::string path;
    std::string function; // in TypeScript
};

struct Skipped {
    std::string tool;
    std::string reason;
};

struct Package {
    std::string server;
    Language language = Language::python;
    std::string package; // as in `mcptools.<package>`
    std::vector<File> files;
    std::vector<Module> modules; // in the order of the tools
    std::vector<Skipped> skipped;
};

// A tool with an unusable schema is skipped, with the reason; the others are generated. Never throws because of a tool.
Package generate(const std::string& server, const std::vector<protocol::ToolSpec>& tools,
                 Language language = Language::python);

// What the function of a tool is called in TypeScript, unless another tool of the server took the name.
std::string typescript_function(const std::string& tool);

} // namespace cellgate::wrappers
