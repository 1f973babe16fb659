#include "wrappers/generate.hpp"

#include "base/text.hpp"
#include "package_writer.hpp"
#include "python_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

namespace cellgate::wrappers {

namespace {

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

// In `resources`: what is called again and again.
constexpr std::string_view subscribe_tool = "resources/subscribe";

// The group's module; "" if no tool is of it.
std::string group_text(const PackageWriter& writer, const std::string& group, const Package& package) {
    std::vector<std::string> names;
    std::vector<GroupMember> members;
    bool subscribes = false;
    const std::string prefix = group + "/";
    for (const Module& module : package.modules) {
        if (module.tool.starts_with(prefix)) {
            subscribes = subscribes || module.tool == subscribe_tool;
            names.push_back(lower(std::string_view(module.tool).substr(prefix.size())));
            members.push_back({&module, ""});
        }
    }
    if (members.empty()) {
        return "";
    }
    std::vector<std::string> unique = identifiers_for(names, group.substr(0, group.size() - 1), {});
    for (std::size_t i = 0; i < unique.size(); ++i) {
        members[i].name = std::move(unique[i]);
    }
    // A template may have taken the name.
    const bool free =
        std::none_of(members.begin(), members.end(), [](const GroupMember& each) { return each.name == "updates"; });
    return writer.group(group, members, subscribes && free);
}

} // namespace

const PackageWriter& writer_of(Language language) {
    return language == Language::typescript ? typescript_writer() : python_writer();
}

std::string lower(std::string_view name) {
    constexpr std::size_t max_name = 100;
    return cellgate::lower(name.substr(0, max_name));
}

void require_fits(std::string_view text) {
    constexpr std::size_t max_module_bytes = std::size_t{4} << 20;
    if (text.size() > max_module_bytes) {
        throw Error(ErrorCode::wrapper_failed,
                    fmt::format("its module would have more than {} bytes", max_module_bytes));
    }
}

std::string first_line(const std::string& text) {
    const std::size_t start = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    return text.substr(start, text.find_first_of("\r\n", start) - start);
}

Package generate(const std::string& server, const std::vector<protocol::ToolSpec>& tools, Language language) {
    const PackageWriter& writer = writer_of(language);
    Package package;
    package.server = server;
    package.language = language;
    package.package = identifiers_for({lower(server)}, "server", {}).front();
    std::vector<const protocol::ToolSpec*> made;
    std::vector<std::string> names;
    std::vector<std::string> texts;
    std::set<std::string> seen;
    NameScope functions({});
    for (const protocol::ToolSpec& tool : tools) {
        if (!seen.insert(tool.name).second) {
            package.skipped.push_back({tool.name, "the server lists a tool of this name twice"});
            continue;
        }
        try {
            const std::string function = functions.claim(typescript_function(tool.name));
            texts.push_back(writer.module(server, tool, function));
            package.modules.push_back({tool.name, "", "", function});
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
        module.path = fmt::format("{}/{}{}", folder, modules[i], writer.suffix);
        package.files.push_back({module.path, std::move(texts[i])});
    }
    for (const std::string_view group : groups) {
        if (std::string text = group_text(writer, std::string(group), package); !text.empty()) {
            package.files.push_back({fmt::format("{}/{}{}", folder, group, writer.suffix), std::move(text)});
        }
    }
    package.files.push_back({fmt::format("{}/{}", folder, writer.index), writer.server(package, made)});
    for (File& file : writer.shared()) {
        package.files.push_back(std::move(file));
    }
    return package;
}

} // namespace cellgate::wrappers
