#pragma once
// `PackageWriter` is what differs between the languages of wrappers: how a tool's module, a group of them and the whole
// package are written.

#include "protocol/tool_spec.hpp"
#include "wrappers/generate.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::wrappers {

// The first lines of every generated file. Python looks for an encoding in its first two.
inline constexpr const char* python_header =
    "# Made by cellgate from what a tool server says about its tools; changes are overwritten.\n\n";
inline constexpr const char* typescript_header =
    "// Made by cellgate from what a tool server says about its tools; changes are overwritten.\n\n";

// A module of a group: "read" of resources/read.
struct GroupMember {
    const Module* module;
    std::string name;
};

struct PackageWriter {
    std::string_view suffix; // of its files
    std::string_view index;  // the file that describes the package, whose first lines are `own_lines`
    // Header, and a line that names the server.
    std::string (*own_lines)(const std::string& server);
    // Throws Error{wrapper_failed} when a schema cannot be used.
    std::string (*module)(const std::string& server, const protocol::ToolSpec& tool, const std::string& function);
    // Of resources or prompts. `updates`: with a function that calls `subscribe` again and again.
    std::string (*group)(const std::string& group, const std::vector<GroupMember>& members, bool updates);
    // `tools` are those of the package's modules, in their order.
    std::string (*server)(const Package& package, const std::vector<const protocol::ToolSpec*>& tools);
    // What all packages of a folder share.
    std::vector<File> (*shared)();
};

const PackageWriter& python_writer();
const PackageWriter& typescript_writer();
const PackageWriter& writer_of(Language language);

// A schema may refer to a long text a thousand times. Throws Error{wrapper_failed}.
void require_fits(std::string_view text);

std::string first_line(const std::string& text);

// A server's or a tool's name as that of a package or a module: they are compared without case, as on some file
// systems.
std::string lower(std::string_view name);

} // namespace cellgate::wrappers
