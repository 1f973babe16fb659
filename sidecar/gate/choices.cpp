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

// Whether one of the words of an argument's name is one of these ("outputFile", "target_dir", "page_url").
template <std::size_t count>
bool has_word(std::string_view name, const std::array<std::string_view, count>& words) {
    std::string word;
    const auto is_one = [&] { return std::find(words.begin(), words.end(), word) != words.end(); };
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalpha(byte) == 0 || std::isupper(byte) != 0) {
            if (is_one()) {
                return true;
            }
            word.clear();
        }
        if (std::isalpha(byte) != 0) {
            word += static_cast<char>(std::tolower(byte));
        }
    }
    return is_one();
}

constexpr std::array<std::string_view, 23> path_words{
    "path", "paths", "file",      "files",       "filename",    "filepath", "dir",    "dirs",
    "root", "roots", "cwd",       "folder",      "folders",     "src",      "source", "sources",
    "dest", "dst",   "directory", "directories", "destination", "target",   "targets"};
constexpr std::array<std::string_view, 8> url_words{"url",     "uri",  "link", "href",
                                                    "address", "site", "page", "endpoint"};

// What an argument names, and how a rule keeps it there.
struct ArgumentBound {
    std::string words; // "under data/", "on example.org"
    protocol::Matcher matcher;
};

// The folder that a path in the root is, or is in; nothing outside, or while it is not known.
std::optional<ArgumentBound> folder_of(std::string_view value, PathSnapshot& paths) {
    if (path_under(value, paths.root(), paths) != Match::yes) {
        return std::nullopt;
    }
    const PathSnapshot::ResolvedPath& found = *paths.find(absolute_path(value, paths));
    const std::filesystem::path path = *found.path;
    ArgumentBound bound;
    bound.matcher.under = (found.is_directory ? path : path.parent_path()).lexically_relative(paths.root()).string();
    bound.words =
        *bound.matcher.under == "." ? "anywhere in the workspace" : "under " + visible_name(*bound.matcher.under + "/");
    return bound;
}

// The host of a URL of the web whose text has nothing between its scheme and the "/" behind the host but the host and
// a port: no reader takes another host for it, whatever follows.
std::optional<ArgumentBound> host_of(std::string_view value) {
    for (const std::string_view scheme : {"https://", "http://"}) {
        const std::size_t end = value.starts_with(scheme) ? value.find('/', scheme.size()) : std::string_view::npos;
        if (end == std::string_view::npos) {
            continue;
        }
        const std::string_view host = value.substr(scheme.size(), end - scheme.size());
        if (parse_endpoint(host, 443)) {
            ArgumentBound bound;
            bound.words = "on " + std::string(host); // of characters that a host and a port may have
            bound.matcher.glob = fmt::format("{}{}/**", scheme, host);
            return bound;
        }
    }
    return std::nullopt;
}

struct NarrowRule {
    RuleSpec rule;
    std::string label; // "copy under data/ and target under out/"
};

// A rule that keeps every argument that is a path to its folder, and every one that is a URL to its host; nothing when
// there is none, or one of them is neither a plain path in the root nor a plain URL.
std::optional<NarrowRule> narrow_rule(RuleSpec rule, const Payload& payload, PathSnapshot& paths) {
    NarrowRule found{std::move(rule), visible_name(*payload.names().tool)};
    found.rule.arguments.emplace();
    bool known = true;
    std::size_t looked_at = 0;
    for (const auto& [name, value] : json_members(payload.names().arguments->text())) {
        const bool names_a_path = has_word(name, path_words);
        if (!names_a_path && !has_word(name, url_words)) {
            continue;
        }
        if (++looked_at > max_paths) {
            return std::nullopt;
        }
        std::optional<ArgumentBound> bound;
        if (json_type(value) == "string") {
            const std::string text = decode_json_string(value);
            bound = host_of(text);
            if (!bound && names_a_path) {
                bound = folder_of(text, paths);
            }
        }
        if (!bound && (!names_a_path || paths.is_resolved())) {
            return std::nullopt;
        }
        if (!bound) {
            known = false; // go on: what all of them lack is looked for at once
            continue;
        }
        std::string pointer = "/";
        for (const char c : name) {
            pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
        }
        found.label += found.rule.arguments->empty() ? " " : fmt::format(" and {} ", visible_name(name));
        found.label += bound->words;
        found.rule.arguments->emplace(std::move(pointer), std::move(bound->matcher));
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
    const std::string there = action.protocol ? "any bytes to this host and port" : "this host and port";
    offer(choices, action.protocol ? "any bytes in this connection" : "this connection", Scope::once);
    if (context.in_execution) {
        offer(choices, there, Scope::execution);
    }
    if (context.in_session) {
        offer(choices, there, Scope::session);
    }
    if (action.server) {
        offer(choices, there + ", for this tool server", Scope::workspace);
        return choices;
    }
    const std::optional<Host> host = parse_host(action.host.value_or(""));
    if (host && action.port) {
        RuleSpec rule;
        rule.effect = protocol::Effect::allow;
        rule.kind = action.kind;
        rule.host = to_string(Endpoint{*host, static_cast<std::uint16_t>(*action.port)});
        rule.protocol = action.protocol;
        offer(choices, there, Scope::workspace, rule);
        constexpr std::int64_t first_unprivileged = 1024;
        const bool may_be_http = *action.port == 80 || *action.port == 443 || *action.port >= first_unprivileged;
        if (may_be_http && context.in_session && !action.protocol) {
            rule.effect = protocol::Effect::inspect;
            rule.kind = ActionKind::request;
            offer(choices, "this host, asking about each request", Scope::session, std::move(rule));
        }
    }
    return choices;
}

// The folder of a path, as a pattern: "/repos/ada/**" of /repos/ada/plan.
std::string folder_pattern(std::string_view path) {
    return std::string(path.substr(0, path.rfind('/') + 1)) + "**";
}

// What a program of git asks for when it fetches from a repository.
std::optional<std::vector<std::string>> paths_of_git_fetch(std::string_view path) {
    for (const std::string_view end : {"/info/refs", "/git-upload-pack"}) {
        if (path.ends_with(end)) {
            const std::string repository(path.substr(0, path.size() - end.size()));
            return std::vector<std::string>{repository + "/info/refs", repository + "/git-upload-pack"};
        }
    }
    return std::nullopt;
}

std::vector<Choice> request_choices(const Payload& payload, const ChoiceContext& context, PathSnapshot& paths) {
    const Payload::Names& action = payload.names();
    std::vector<Choice> choices;
    offer(choices, "this request", Scope::once);
    if (context.in_execution) {
        offer(choices, "this exact request", Scope::execution);
    }
    const std::optional<Host> host = parse_host(action.host.value_or(""));
    if (!host || !action.port || !action.path || !action.method) {
        return choices;
    }
    const Scope wide = context.in_session ? Scope::session : Scope::workspace;
    RuleSpec rule;
    rule.effect = protocol::Effect::allow;
    rule.kind = action.kind;
    rule.server = action.server ? std::optional<std::string>(*action.server) : std::nullopt;
    rule.host = to_string(Endpoint{*host, static_cast<std::uint16_t>(*action.port)});
    const auto offer_rule = [&](const std::string& label, std::initializer_list<Scope> scopes) {
        const protocol::Rule as_rule = make_rule(rule, protocol::RuleSource::session, WallTime{});
        if (is_short(lasting(label, Scope::execution)) && applies(as_rule, payload, paths)) {
            for (const Scope scope : scopes) {
                if (scope != Scope::execution || context.in_execution) {
                    offer(choices, label, scope, rule);
                }
            }
        }
    };
    const bool is_pattern = action.path->find('*') != std::string_view::npos; // a rule with it would cover more
    const bool plain = *action.port == 443 && !host->is_address;
    const std::string at = plain ? host->name : *rule.host;
    if (context.operation != nullptr) {
        rule.methods = {context.operation->method};
        rule.paths = {path_pattern(context.operation->path)};
        offer_rule(fmt::format("any {} at {}", visible_name(context.operation->id), at), {Scope::execution, wide});
    }
    const std::optional<std::vector<std::string>> fetch = paths_of_git_fetch(*action.path);
    if (fetch && !is_pattern) {
        rule.methods = {"GET", "POST"};
        rule.paths = *fetch;
        const std::string_view repository =
            std::string_view(fetch->front()).substr(0, fetch->front().size() - std::string_view("/info/refs").size());
        offer_rule(fmt::format("git fetch, no push, of {}", visible_name(at + std::string(repository))),
                   {Scope::execution, wide, Scope::workspace});
    } else if (!is_pattern) {
        rule.methods = {std::string(*action.method)};
        rule.paths = {folder_pattern(*action.path)};
        offer_rule(fmt::format("{} {}", visible_name(*action.method), visible_name(at + rule.paths->front())),
                   {Scope::execution, wide});
    }
    rule.paths.reset();
    rule.methods = {"GET", "HEAD"};
    offer_rule(fmt::format("read only (GET, HEAD) of {}", at), {Scope::execution, wide, Scope::workspace});
    rule.methods.reset();
    offer_rule(fmt::format("any request to {}", at), {wide});
    return choices;
}

// The tools of agents that run a program take its command line as `command`.
bool is_command_of_client(const Payload& payload) {
    return std::holds_alternative<ClientCall>(payload.action()) &&
           !json_member(payload.names().arguments->text(), "command").empty();
}

std::vector<Choice> output_choices(const ChoiceContext& context) {
    std::vector<Choice> choices;
    offer(choices, "this output", Scope::once);
    RuleSpec any;
    any.effect = protocol::Effect::allow;
    any.kind = ActionKind::output;
    if (context.in_execution) {
        offer(choices, "what this cell prints", Scope::execution, any);
    }
    if (context.in_session) {
        offer(choices, "any output", Scope::session, any);
    }
    return choices;
}

} // namespace

std::vector<Choice> choices_for(const Payload& payload, const ChoiceContext& context, PathSnapshot& paths) {
    const Payload::Names& action = payload.names();
    std::vector<Choice> choices;
    if (action.kind == ActionKind::server) {
        offer(choices, action.url ? "use it once" : "start it once", Scope::once);
        offer(choices, action.url ? "use exactly this server" : "start exactly this program", Scope::workspace);
        return choices;
    }
    if (action.kind == ActionKind::network) {
        return connection_choices(action, context);
    }
    if (action.kind == ActionKind::request) {
        return request_choices(payload, context, paths);
    }
    if (action.kind == ActionKind::output) {
        return output_choices(context);
    }
    offer(choices, "this call", Scope::once);
    if (context.in_execution) {
        offer(choices, "this exact call", Scope::execution);
    }
    const bool runs_command = is_command_of_client(payload);
    if (payload.requires_exact() || runs_command) {
        if (context.in_session) {
            offer(choices, "this exact call", Scope::session);
        }
        if (runs_command) {
            offer(choices, "this exact call", Scope::workspace);
        }
        return choices;
    }
    RuleSpec any;
    any.effect = protocol::Effect::allow;
    any.kind = action.kind;
    any.server = action.server;
    any.tool = action.tool;
    const Scope wide = context.in_session ? Scope::session : Scope::workspace;
    const std::optional<NarrowRule> narrow = narrow_rule(any, payload, paths);
    if (narrow && is_short(lasting(narrow->label, Scope::execution))) {
        if (context.in_execution) {
            offer(choices, narrow->label, Scope::execution, narrow->rule);
        }
        offer(choices, narrow->label, wide, narrow->rule);
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
