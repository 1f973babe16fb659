#include "module_text.hpp"
#include "package_writer.hpp"
#include "python_text.hpp"
#include "runtime_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cellgate::wrappers {

namespace {

constexpr std::string_view package_text =
    R"("""Tools of the servers that cellgate runs: `from mcptools.<server> import <tool>`, then `<tool>.run(…)`."""

from ._runtime import (
    UNSET,
    ApprovalDenied,
    AudioContent,
    Content,
    Contents,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    Text,
    TextContent,
    ToolCallError,
    ToolConnectionError,
    ToolError,
    Unset,
)

__all__ = [
    "UNSET",
    "ApprovalDenied",
    "AudioContent",
    "Content",
    "Contents",
    "EmbeddedResource",
    "ImageContent",
    "ResourceLink",
    "Text",
    "TextContent",
    "ToolCallError",
    "ToolConnectionError",
    "ToolError",
    "Unset",
]
)";

// In `resources`, beside `subscribe`: what calls it again and again.
constexpr std::string_view updates_imports =
    "from typing import Iterator, Union\n\nfrom .._runtime import Contents, Text\n";
constexpr std::string_view updates_text = R"(

def updates(uri: str) -> Iterator[Union[Text, Contents]]:
    """The contents of the resource now, and after each of its changes. Each time is a call of its own."""
    while True:
        yield subscribe.run(uri=uri)
)";

std::string python_own_lines(const std::string& server) {
    return fmt::format("{}# Of the server {}.\n", python_header, string_literal(server));
}

std::string python_module(const std::string& server, const protocol::ToolSpec& tool, const std::string& /*function*/) {
    return module_text(server, tool);
}

std::string python_group(const std::string& group, const std::vector<GroupMember>& members, bool updates) {
    std::string text;
    std::vector<std::string> names;
    for (const GroupMember& member : members) {
        text += fmt::format("from . import {} as {}\n", member.module->module, member.name);
        names.push_back(member.name);
    }
    if (updates) {
        names.emplace_back("updates");
    }
    return fmt::format("{}\"\"\"The {} of the server: `{}.run(…)`.\"\"\"\n\n{}{}\n__all__ = [\"{}\"]\n{}",
                       python_header, group, members.front().name, updates ? updates_imports : "", text,
                       fmt::join(names, "\", \""), updates ? updates_text : "");
}

std::string python_server(const Package& package, const std::vector<const protocol::ToolSpec*>& tools) {
    std::string text = fmt::format("The tools of the server `{}`: `from mcptools.{} import <tool>`, then "
                                   "`<tool>.run(…)`; `help(<tool>.run)` tells more.\n\n",
                                   package.server, package.package);
    for (std::size_t i = 0; i < tools.size(); ++i) {
        text += fmt::format("{}: {}\n", package.modules[i].module, first_line(tools[i]->description.value_or("")));
    }
    return fmt::format("{}\"\"\"{}\n\"\"\"\n", python_own_lines(package.server), docstring(text, 0));
}

std::vector<File> python_shared() {
    return {{"mcptools/_runtime.py", fmt::format("{}{}", python_header, runtime_text)},
            {"mcptools/__init__.py", fmt::format("{}{}", python_header, package_text)}};
}

} // namespace

const PackageWriter& python_writer() {
    static constexpr PackageWriter writer{".py",        "__init__.py", python_own_lines, python_module,
                                          python_group, python_server, python_shared};
    return writer;
}

} // namespace cellgate::wrappers
