#include "choices.hpp"

#include "base/host.hpp"
#include "columns.hpp"
#include "path_match.hpp"
#include "rules.hpp"
#include "visible_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

namespace cellgate::gate {

namespace {

using protocol::Choice;
using protocol::RuleSpec;
using protocol::Scope;

constexpr std::size_t max_paths = 16; // of one call

// How a label says how long the answer holds; it comes last.
std::string lasting(std::string_view what, Scope scope) {
    switch (scope) {
    case Scope::execution:
        return fmt::format("{}, until the cell ends", what);
    case Scope::session:
        return fmt::format("{}, this session", what);
    case Scope::workspace:
        return fmt::format("{}, this workspace", what);
    case Scope::once:
    case Scope::always:
        break;
    }
    return std::string(what);
}

// Whether the label cannot be taken for several choices when a terminal breaks it: blanks are only in quoted names.
bool is_short(std::string_view label) {
    const std::size_t rows = label.find('"') == std::string_view::npos ? 2 : 1;
    return columns(label) <= rows * max_columns;
}

// Whether an argument's name says that it is a path: one of its words is one of ours ("outputFile", "target_dir").
bool names_a_path(std::string_view name) {
    constexpr std::array words{"path",      "paths",       "file",        "files",   "filename", "filepath",
                               "dir",       "dirs",        "root",        "roots",   "cwd",      "folder",
                               "folders",   "src",         "source",      "sources", "dest",     "dst",
                               "directory", "directories", "destination", "target",  "targets"};
    std::string word;
    const auto is_path_word = [&] { return std::find(words.begin(), words.end(), word) != words.end(); };
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalpha(byte) == 0 || std::isupper(byte) != 0) {
            if (is_path_word()) {
                return true;
            }
            word.clear();
        }
        if (std::isalpha(byte) != 0) {
            word += static_cast<char>(std::tolower(byte));
        }
    }
    return is_path_word();
}

// The folder that a path in the root is, or is in, relative to the root; nothing outside, or while it is not known.
std::optional<std::string> folder_of(std::string_view value, PathSnapshot& paths) {
    if (path_under(value, paths.root(), paths) != Match::yes) {
        return std::nullopt;
    }
    const PathSnapshot::ResolvedPath& place = *paths.find(absolute_path(value, paths));
    const std::filesystem::path path = *place.path;
    return (place.is_directory ? path : path.parent_path()).lexically_relative(paths.root()).string();
}

struct FolderRule {
    RuleSpec rule;
    std::string label;
};

// " under data/" for the first path, " and target under out/" for a further one.
std::string folder_words(std::string_view argument, const std::string& folder, bool first) {
    const std::string where = folder == "." ? "anywhere in the workspace" : "under " + visible_name(folder + "/");
    return first ? " " + where : fmt::format(" and {} {}", visible_name(argument), where);
}

// A rule that keeps every argument that is a path to its folder; nothing when there is none, or one of them is not
// a plain path in the root.
std::optional<FolderRule> folder_rule(RuleSpec rule, const Payload& payload, PathSnapshot& paths) {
    FolderRule found{std::move(rule), visible_name(*payload.names().tool)};
    found.rule.arguments.emplace();
    bool known = true;
    std::size_t looked_at = 0;
    for (const auto& [name, value] : json_members(payload.names().arguments->text())) {
        if (!names_a_path(name)) {
            continue;
        }
        if (++looked_at > max_paths) {
            return std::nullopt;
        }
        const std::optional<std::string> folder =
            json_type(value) == "string" ? folder_of(decode_json_string(value), paths) : std::nullopt;
        if (!folder && paths.is_resolved()) {
            return std::nullopt;
        }
        if (!folder) {
            known = false; // go on: what all of them lack is looked for at once
            continue;
        }
        std::string pointer = "/";
        for (const char c : name) {
            pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
        }
        found.label += folder_words(name, *folder, found.rule.arguments->empty());
        protocol::Matcher matcher;
        matcher.under = *folder;
        found.rule.arguments->emplace(std::move(pointer), std::move(matcher));
    }
    if (!known || found.rule.arguments->empty()) {
        return std::nullopt;
    }
    protocol::Rule as_rule = make_rule(found.rule, protocol::RuleSource::session, WallTime{});
    try {
        check_rule(as_rule);
    } catch (const Error&) {
        return std::nullopt; // A hostile name can make a pointer that no rule may have.
    }
    return applies(as_rule, payload, paths) ? std::optional(found) : std::nullopt;
}

void offer(std::vector<Choice>& choices, std::string_view what, Scope scope,
           std::optional<RuleSpec> rule = std::nullopt) {
    Choice choice;
    choice.label = lasting(what, scope);
    choice.scope = scope;
    choice.rule = std::move(rule);
    choices.push_back(std::move(choice));
}

// Of a public host. A connection to any other host is never asked about.
std::vector<Choice> connection_choices(const Payload::Names& action, const ChoiceContext& context) {
    std::vector<Choice> choices;
    offer(choices, "this connection", Scope::once);
    if (context.in_execution) {
        offer(choices, "this host and port", Scope::execution);
    }
    if (context.in_session) {
        offer(choices, "this host and port", Scope::session);
    }
    if (action.server) {
        offer(choices, "this host and port, for this tool server", Scope::workspace);
        return choices;
    }
    const std::optional<Host> host = parse_host(action.host.value_or(""));
    if (host && action.port) {
        RuleSpec rule;
        rule.effect = protocol::Effect::allow;
        rule.kind = action.kind;
        rule.host = to_string(Endpoint{*host, static_cast<std::uint16_t>(*action.port)});
        offer(choices, "this host and port", Scope::workspace, std::move(rule));
    }
    return choices;
}

} // namespace

std::vector<Choice> choices_for(const Payload& payload, const ChoiceContext& context, PathSnapshot& paths) {
    const Payload::Names& action = payload.names();
    std::vector<Choice> choices;
    if (action.kind == ActionKind::server) {
        offer(choices, "start it once", Scope::once);
        offer(choices, "start exactly this program", Scope::workspace);
        return choices;
    }
    if (action.kind == ActionKind::network) {
        return connection_choices(action, context);
    }
    offer(choices, "this call", Scope::once);
    if (context.in_execution) {
        offer(choices, "this exact call", Scope::execution);
    }
    if (payload.requires_exact()) {
        if (context.in_session) {
            offer(choices, "this exact call", Scope::session);
        }
        return choices;
    }
    RuleSpec any;
    any.effect = protocol::Effect::allow;
    any.kind = action.kind;
    any.server = action.server;
    any.tool = action.tool;
    const Scope wide = context.in_session ? Scope::session : Scope::workspace;
    const std::optional<FolderRule> folder = folder_rule(any, payload, paths);
    if (folder && is_short(lasting(folder->label, Scope::execution))) {
        if (context.in_execution) {
            offer(choices, folder->label, Scope::execution, folder->rule);
        }
        offer(choices, folder->label, wide, folder->rule);
    }
    std::string tool = fmt::format("any {} of {}", visible_name(*action.tool), visible_name(*action.server));
    if (!is_short(lasting(tool, Scope::workspace))) {
        tool = "any call of this tool"; // which the display names in full
    }
    offer(choices, tool, wide, any);
    if (context.in_session) {
        offer(choices, tool, Scope::workspace, any);
    }
    return choices;
}

} // namespace cellgate::gate
