#include "parse_error_text.hpp"

#include "argument_error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/suggest.hpp"
#include "command_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cellgate::cli {

namespace {

// What other programs, and other parts of this one, call it.
std::string known_as(const std::string& name) {
    constexpr std::array<std::pair<const char*, const char*>, 16> words = {{{"vault", "secret"},
                                                                            {"secrets", "secret"},
                                                                            {"audit", "record"},
                                                                            {"log", "record"},
                                                                            {"validate", "check"},
                                                                            {"host", "policy"},
                                                                            {"egress", "policy"},
                                                                            {"allow", "policy"},
                                                                            {"deny", "policy"},
                                                                            {"inspect", "session inspect"},
                                                                            {"sessions", "session"},
                                                                            {"artifacts", "run --save"},
                                                                            {"bridge", "mcp"},
                                                                            {"exec", "run"},
                                                                            {"profiles", "runtimes"},
                                                                            {"tools", "servers"}}};
    const auto* const found =
        std::find_if(words.begin(), words.end(), [&](const auto& each) { return each.first == name; });
    return found == words.end() ? std::string() : found->second;
}

// "run", "session create"; empty for the program itself.
std::string path_of(const CLI::App& command) {
    if (command.get_parent() == nullptr) {
        return {};
    }
    const std::string above = path_of(*command.get_parent());
    return above.empty() ? command.get_name() : above + " " + command.get_name();
}

std::string called(const CLI::App& command) {
    const std::string path = path_of(command);
    return path.empty() ? "cellgate" : "cellgate " + path;
}

std::vector<std::string> names_of_subcommands(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::App* each : subcommands_of(command)) {
        names.push_back(each->get_name());
    }
    return names;
}

// The subcommand that was named, down to the last.
const CLI::App& named_command(const CLI::App& app) {
    const std::vector<const CLI::App*> parsed =
        app.get_subcommands([](const CLI::App* each) { return each->parsed(); });
    return parsed.empty() ? app : named_command(*parsed.front());
}

std::string no_option(const CLI::App& app, const CLI::App& command, const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    const CLI::App* parent = command.get_parent();
    if (parent != nullptr && app.get_option_no_throw(name) != nullptr) {
        return fmt::format("{} goes before the subcommand: cellgate {} … {}", name, name, path_of(command));
    }
    std::vector<std::string> names;
    for (const CLI::Option* option : named_options_of(command)) {
        const std::vector<std::string> own = names_of(*option);
        names.insert(names.end(), own.begin(), own.end());
    }
    const std::string nearest = name.starts_with("--") ? nearest_name(name, names) : std::string();
    return fmt::format("`{}` has no option {}; {}", called(command), escape_unprintable(name),
                       nearest.empty() ? "--help lists those that there are" : nearest + "?");
}

// What was left over, in the order in which it was typed.
std::string too_many(const CLI::App& command, const std::vector<std::string>& words) {
    std::string text = fmt::format("`{}` takes nothing more, found {}", called(command),
                                   escape_unprintable(fmt::format("{}", fmt::join(words, " "))));
    const std::vector<const CLI::Option*> positionals = positionals_of(command);
    if (!positionals.empty()) {
        text += fmt::format("; put {} into quotes if it has spaces", positionals.back()->get_name(true));
    }
    return text;
}

} // namespace

std::string no_subcommand(const CLI::App& app, const std::string& name) {
    if (subcommands_of(app).empty()) {
        return fmt::format("expected nothing after `{}`, which has no subcommands, found {}", called(app),
                           escape_unprintable(name));
    }
    std::string meant = app.get_parent() == nullptr ? known_as(name) : std::string();
    if (meant.empty()) {
        const std::string nearest = nearest_name(name, names_of_subcommands(app));
        const std::string path = path_of(app);
        meant = nearest.empty() || path.empty() ? nearest : path + " " + nearest;
    }
    const std::string path = path_of(app);
    return fmt::format("there is no subcommand {}{}; `cellgate help{}{}` lists those that there are",
                       escape_unprintable(name), meant.empty() ? "" : fmt::format(", but `cellgate {}`", meant),
                       path.empty() ? "" : " ", path);
}

const CLI::App& named_subcommand(const CLI::App& app, const std::vector<std::string>& names) {
    const CLI::App* command = &app;
    for (const std::string& name : names) {
        const CLI::App* next = find_subcommand(*command, name);
        if (next == nullptr) {
            throw ArgumentError(ErrorCode::invalid_params, no_subcommand(*command, name));
        }
        command = next;
    }
    return *command;
}

std::optional<std::string> unknown_subcommand(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty() || words.back().starts_with('-')) {
        return std::nullopt;
    }
    const std::vector<const CLI::App*> all = app.get_subcommands([](const CLI::App*) { return true; });
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const CLI::App* each) { return each->check_name(words.back()); });
    return known ? std::nullopt : std::optional(no_subcommand(app, words.back()));
}

std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& command = named_command(app);
    std::vector<std::string> left = app.remaining(true);
    const auto option = std::find_if(left.begin(), left.end(), [](const std::string& word) {
        return word.size() > 1 && word.starts_with('-') && word != "--";
    });
    if (option != left.end()) {
        return fmt::format("cellgate: {}\n", no_option(app, command, *option));
    }
    if (!left.empty() && !subcommands_of(command).empty()) {
        return fmt::format("cellgate: {}\n", no_subcommand(command, left.front()));
    }
    if (&command != &app && !subcommands_of(command).empty() &&
        dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
        return fmt::format("cellgate: `{}` expects a subcommand: {}\n", called(command),
                           fmt::join(names_of_subcommands(command), ", "));
    }
    if (&command == &app) {
        return app.help();
    }
    if (!left.empty() && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
        return fmt::format("cellgate: {}\n", too_many(command, left));
    }
    if (const std::string_view what = error.what(); dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
        return fmt::format("cellgate: {}: expected a value, found nothing\n", what.substr(0, what.find(':')));
    }
    return fmt::format("{}\nRun with --help for more information.\n", escape_unprintable(error.what(), true));
}

} // namespace cellgate::cli
