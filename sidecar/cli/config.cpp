// `cellgate config`: what is set outside the editors, and where.

#include "all_commands.hpp"
#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json.hpp"
#include "command_tree.hpp"
#include "commands.hpp"
#include "config_file.hpp"
#include "config_findings.hpp"
#include "json_output.hpp"
#include "store/directories.hpp"
#include "text_table.hpp"
#include "value_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <utility>

namespace cellgate::cli {

namespace {

// Each file, with what is wrong, and what it sets.
using ConfigFile = std::pair<sandbox::Finding, const char*>;

std::vector<ConfigFile> config_files(const CLI::App& app, const ConfigFileContent& options) {
    constexpr std::array sets = {"options of the command line", "rules that are kept, for all workspaces",
                                 "profiles of sessions", "limits of agents", "the record"};
    std::vector<ConfigFile> files;
    for (sandbox::Finding& each : config_findings(config_file_of(app), options, process_environment())) {
        files.emplace_back(std::move(each), sets.at(files.size()));
    }
    return files;
}

// The variables that change what cellgate does. A secret's value is not among them.
std::vector<ConfiguredOption> variables_in_force() {
    constexpr std::array names = {"CELLGATE_TOUCH_KEY", "SSL_CERT_FILE",   "XDG_CONFIG_HOME",
                                  "XDG_DATA_HOME",      "XDG_RUNTIME_DIR", "XDG_STATE_HOME"};
    std::vector<ConfiguredOption> found;
    for (const auto& [name, value] : process_environment()) {
        if (name.starts_with("CELLGATE_SECRET_")) {
            found.push_back({name, {"(a secret)"}, "environment", {}});
        } else if (std::find(names.begin(), names.end(), name) != names.end()) {
            found.push_back({name, {value}, "environment", {}});
        }
    }
    return found;
}

// What a subcommand takes where the option is not given. A value that the option refuses stands for none.
std::vector<std::string> default_of(CLI::Option& option) {
    if (!takes_value(option)) {
        return {"false"};
    }
    const std::string value = option.get_default_str();
    const bool none = value.empty() || value == "[]" || !wrong_value(option, {value}).empty();
    return none ? std::vector<std::string>() : std::vector{value};
}

bool may_be_set(const CLI::App& command, const CLI::Option* option) {
    return !option->get_lnames().empty() && option != command.get_help_ptr();
}

// Of all options of the subcommands of `app` that `set` does not name.
void add_defaults(CLI::App& app, const std::string& path, std::vector<ConfiguredOption>& set) {
    for (const CLI::App* each : subcommands_of(app)) {
        CLI::App* command = app.get_subcommand(each->get_name());
        const std::string name = path + each->get_name() + ".";
        for (const CLI::Option* option : named_options_of(*each)) {
            if (!may_be_set(*each, option)) {
                continue;
            }
            const std::string full = name + option->get_lnames().front();
            if (std::none_of(set.begin(), set.end(), [&](const auto& other) { return other.name == full; })) {
                set.push_back({full, default_of(*command->get_option(option->get_name())), "default", {}});
            }
        }
        add_defaults(*command, name, set);
    }
}

struct Shown {
    std::vector<ConfiguredOption> values;
    std::vector<ConfigFile> files;
};

Shown what_is_set(const CLI::App& app, bool defaults) {
    CommandTree tree;
    ConfigFileContent options = config_file_content(app, tree.app);
    Shown shown{{}, config_files(app, options)};
    shown.values = std::move(options.options);
    const std::vector<ConfiguredOption> variables = variables_in_force();
    shown.values.insert(shown.values.end(), variables.begin(), variables.end());
    if (defaults) {
        add_defaults(tree.app, {}, shown.values);
    }
    return shown;
}

bool is_there(const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
}

void print_values(const Shown& shown) {
    Json answer{{"values", Json::array()}, {"files", Json::array()}};
    for (const ConfiguredOption& each : shown.values) {
        Json value{{"name", each.name}, {"values", each.values}, {"from", each.from}};
        if (!each.wrong.empty()) {
            value["wrong"] = each.wrong;
        }
        answer["values"].push_back(std::move(value));
    }
    for (const auto& [finding, sets] : shown.files) {
        Json file{{"path", finding.subject}, {"what", sets}, {"exists", is_there(finding.subject)}};
        if (!finding.good) {
            file["wrong"] = finding.detail;
        }
        answer["files"].push_back(std::move(file));
    }
    fmt::print("{}\n", answer.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void print_tables(const Shown& shown) {
    std::vector<std::vector<std::string>> values{{"NAME", "VALUE", "FROM"}};
    for (const ConfiguredOption& each : shown.values) {
        values.push_back(
            {each.name, each.values.empty() ? "(none)" : fmt::format("{}", fmt::join(each.values, ", ")), each.from});
    }
    std::vector<std::vector<std::string>> files{{"FILE", "IS THERE", "SETS"}};
    for (const auto& [finding, sets] : shown.files) {
        files.push_back({finding.subject, is_there(finding.subject) ? "yes" : "no", sets});
    }
    fmt::print("{}\n{}",
               values.size() > 1 ? text_table(values)
                                 : "everything has its default value: cellgate config show --defaults\n",
               text_table(files));
}

// 1 if something is wrong, which stderr says.
int show(const CLI::App& app, bool defaults, bool json) {
    const Shown shown = what_is_set(app, defaults);
    json ? print_values(shown) : print_tables(shown);
    int exit_code = 0;
    for (const auto& [finding, sets] : shown.files) {
        if (!finding.good) {
            exit_code = 1;
            fmt::print(stderr, "cellgate: {}: {}\n", finding.subject, escape_unprintable(finding.detail));
            fmt::print(stderr, "{}", finding.hint.empty() ? "" : "  " + escape_unprintable(finding.hint, true) + "\n");
        }
    }
    return exit_code;
}

// What the configuration file may set an option to. The command says what is wrong with a value.
Json schema_of(const CLI::Option& option) {
    if (!takes_value(option)) {
        return {{"type", "boolean"}};
    }
    const std::vector<std::string> names = names_taken_by(option);
    const Json value = names.empty() ? Json{{"type", {"string", "number"}}} : Json{{"enum", names}};
    if (option.get_items_expected_max() == 1) {
        return value;
    }
    return {{"anyOf", {value, {{"type", "array"}, {"items", value}}}}};
}

// Of the table of a command, with those of its subcommands.
Json schema_of(const CLI::App& command) {
    Json properties = Json::object();
    for (const CLI::Option* option : named_options_of(command)) {
        if (!may_be_set(command, option)) {
            continue;
        }
        Json& property = properties[option->get_lnames().front()];
        property = schema_of(*option);
        property["description"] = option->get_description();
    }
    for (const CLI::App* each : subcommands_of(command)) {
        properties[each->get_name()] = schema_of(*each);
    }
    return {{"type", "object"},
            {"description", command.get_description()},
            {"properties", std::move(properties)},
            {"additionalProperties", false}};
}

void print_schema(const CLI::App& app) {
    Json properties = Json::object();
    for (const CLI::App* each : subcommands_of(app)) {
        properties[each->get_name()] = schema_of(*each);
    }
    const Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                         {"title", "Options of cellgate's subcommands"},
                         {"type", "object"},
                         {"properties", std::move(properties)},
                         {"additionalProperties", false}};
    fmt::print("{}\n", schema.dump(2));
}

} // namespace

void add_config(CLI::App& app, Invocation& invocation) {
    auto json = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("config", "Show what is set by files and variables, and where");
    auto defaults = std::make_shared<bool>(false);
    const auto run = [&app, json, defaults, &invocation] {
        invocation.run = [&app, json, defaults] { return show(app, *defaults, *json); };
    };
    CLI::App* showing = command->add_subcommand("show", "The same");
    CLI::App* schema = command->add_subcommand("schema", "A JSON Schema of the configuration file, for your editor");
    for (CLI::App* each : {command, showing}) {
        each->add_flag("--defaults", *defaults, "Also the options that nothing sets, with what holds without them");
    }
    for (CLI::App* each : {command, showing, schema}) { // the schema is JSON in any case
        add_json(*each, *json);
    }
    showing->callback(run);
    command->callback([command, run] { // comes behind those of its subcommands
        if (command->get_subcommands().empty()) {
            run();
        }
    });
    schema->callback([&app, &invocation] {
        invocation.run = [&app] {
            print_schema(app);
            return 0;
        };
    });
}

} // namespace cellgate::cli
