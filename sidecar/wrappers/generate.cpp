#include "wrappers/generate.hpp"

#include "module_text.hpp"
#include "python_text.hpp"
#include "runtime_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

namespace cellgate::wrappers {

namespace {

constexpr std::size_t max_name = 100;

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

// Names are compared without case, as on some file systems.
std::string lower(std::string_view name) {
    std::string out(name.substr(0, max_name));
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

std::string first_line(const std::string& text) {
    const std::size_t start = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    return text.substr(start, text.find_first_of("\r\n", start) - start);
}

// Tools of such names are grouped in a module: `resources` has `read` for resources/read.
constexpr std::array<std::string_view, 2> groups{"resources", "prompts"};

std::set<std::string> groups_of(const std::vector<const protocol::ToolSpec*>& tools) {
    std::set<std::string> found;
    for (const std::string_view group : groups) {
        const std::string prefix = fmt::format("{}/", group);
        if (std::any_of(tools.begin(), tools.end(), [&](const auto* each) { return each->name.starts_with(prefix); })) {
            found.emplace(group);
        }
    }
    return found;
}

// In `resources`, beside `subscribe`: what calls it again and again.
constexpr std::string_view subscribe_tool = "resources/subscribe";
constexpr std::string_view updates_imports =
    "from typing import Iterator, Union\n\nfrom .._runtime import Contents, Text\n";
constexpr std::string_view updates_text = R"(

def updates(uri: str) -> Iterator[Union[Text, Contents]]:
    """The contents of the resource now, and after each of its changes. Each time is a call of its own."""
    while True:
        yield subscribe.run(uri=uri)
)";

// The group's module; "" if no tool is of it.
std::string group_text(std::string_view group, const Package& package) {
    std::vector<std::string> names;
    std::vector<std::string> modules;
    bool subscribes = false;
    const std::string prefix = fmt::format("{}/", group);
    for (const Module& module : package.modules) {
        if (module.tool.starts_with(prefix)) {
            subscribes = subscribes || module.tool == subscribe_tool;
            names.push_back(lower(std::string_view(module.tool).substr(prefix.size())));
            modules.push_back(module.module);
        }
    }
    std::string text;
    std::vector<std::string> members = identifiers_for(names, group.substr(0, group.size() - 1), {});
    for (std::size_t i = 0; i < members.size(); ++i) {
        text += fmt::format("from . import {} as {}\n", modules[i], members[i]);
    }
    if (text.empty()) {
        return text;
    }
    const std::string first = members.front();
    // A template may have taken the name.
    const bool updates = subscribes && std::find(members.begin(), members.end(), "updates") == members.end();
    if (updates) {
        members.emplace_back("updates");
    }
    return fmt::format("{}\"\"\"The {} of the server: `{}.run(…)`.\"\"\"\n\n{}{}\n__all__ = [\"{}\"]\n{}", file_header,
                       group, first, updates ? updates_imports : "", text, fmt::join(members, "\", \""),
                       updates ? updates_text : "");
}

// `tools` are those of the package's modules, in their order.
std::string server_text(const std::string& server, const Package& package,
                        const std::vector<const protocol::ToolSpec*>& tools) {
    std::string text = fmt::format("The tools of the server `{}`: `from mcptools.{} import <tool>`, then "
                                   "`<tool>.run(…)`; `help(<tool>.run)` tells more.\n\n",
                                   server, package.package);
    for (std::size_t i = 0; i < tools.size(); ++i) {
        text += fmt::format("{}: {}\n", package.modules[i].module, first_line(tools[i]->description.value_or("")));
    }
    return fmt::format("{}{}\"\"\"{}\n\"\"\"\n", file_header, server_record(server), docstring(text, 0));
}

} // namespace

Package generate(const std::string& server, const std::vector<protocol::ToolSpec>& tools) {
    Package package;
    package.server = server;
    package.package = identifiers_for({lower(server)}, "server", {}).front();
    std::vector<const protocol::ToolSpec*> made;
    std::vector<std::string> names;
    std::vector<std::string> texts;
    std::set<std::string> seen;
    for (const protocol::ToolSpec& tool : tools) {
        if (!seen.insert(tool.name).second) {
            package.skipped.push_back({tool.name, "the server lists a tool of this name twice"});
            continue;
        }
        try {
            texts.push_back(module_text(server, tool));
            package.modules.push_back({tool.name, "", ""});
            made.push_back(&tool);
            names.push_back(lower(tool.name));
        } catch (const Error& error) {
            package.skipped.push_back({tool.name, error.message});
        }
    }
    const std::string folder = "mcptools/" + package.package;
    const std::vector<std::string> modules = identifiers_for(names, "tool", groups_of(made));
    for (std::size_t i = 0; i < modules.size(); ++i) {
        Module& module = package.modules[i];
        module.module = modules[i];
        module.path = fmt::format("{}/{}.py", folder, modules[i]);
        package.files.push_back({module.path, std::move(texts[i])});
    }
    for (const std::string_view group : groups) {
        if (std::string text = group_text(group, package); !text.empty()) {
            package.files.push_back({fmt::format("{}/{}.py", folder, group), std::move(text)});
        }
    }
    package.files.push_back({folder + "/__init__.py", server_text(server, package, made)});
    package.files.push_back({"mcptools/_runtime.py", fmt::format("{}{}", file_header, runtime_text)});
    package.files.push_back({"mcptools/__init__.py", fmt::format("{}{}", file_header, package_text)});
    return package;
}

} // namespace cellgate::wrappers
