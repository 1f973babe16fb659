// `cellgate config`: what is set outside the editors, and where.

#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json.hpp"
#include "command_tree.hpp"
#include "commands.hpp"
#include "config_file.hpp"
#include "json_output.hpp"
#include "store/directories.hpp"
#include "text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

namespace cellgate::cli {

namespace {

struct ConfigFile {
    std::string path;
    std::string what;
};

std::vector<ConfigFile> config_files(const CLI::App& app) {
    const std::string directory = store::find_directories(process_environment()).config;
    return {{config_file_of(app), "options of the command line"},
            {directory + "/policy", "rules that are kept, by workspace"},
            {directory + "/profiles.json", "profiles of sessions"},
            {directory + "/agents.json", "limits of agents"},
            {directory + "/record.json", "the record"}};
}

// The variables that change what cellgate does. A secret's value is not among them.
std::vector<ConfiguredOption> variables_in_force() {
    constexpr std::array names = {"CELLGATE_TOUCH_KEY", "SSL_CERT_FILE",   "XDG_CONFIG_HOME",
                                  "XDG_DATA_HOME",      "XDG_RUNTIME_DIR", "XDG_STATE_HOME"};
    std::vector<ConfiguredOption> found;
    for (const auto& [name, value] : process_environment()) {
        if (name.starts_with("CELLGATE_SECRET_")) {
            found.push_back({name, {"(a secret)"}, "environment"});
        } else if (std::find(names.begin(), names.end(), name) != names.end()) {
            found.push_back({name, {value}, "environment"});
        }
    }
    return found;
}

std::vector<ConfiguredOption> values_in_force(const CLI::App& app) {
    std::vector<ConfiguredOption> all = configured_options(app);
    const std::vector<ConfiguredOption> variables = variables_in_force();
    all.insert(all.end(), variables.begin(), variables.end());
    return all;
}

bool exists(const ConfigFile& file) {
    std::error_code error;
    return std::filesystem::exists(file.path, error);
}

void print_values(const CLI::App& app) {
    Json answer{{"values", Json::array()}, {"files", Json::array()}};
    for (const ConfiguredOption& each : values_in_force(app)) {
        answer["values"].push_back({{"name", each.name}, {"values", each.values}, {"from", each.from}});
    }
    for (const ConfigFile& each : config_files(app)) {
        answer["files"].push_back({{"path", each.path}, {"what", each.what}, {"exists", exists(each)}});
    }
    fmt::print("{}\n", answer.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void print_tables(const CLI::App& app) {
    std::vector<std::vector<std::string>> values{{"NAME", "VALUE", "FROM"}};
    for (const ConfiguredOption& each : values_in_force(app)) {
        values.push_back({each.name, fmt::format("{}", fmt::join(each.values, ", ")), each.from});
    }
    std::vector<std::vector<std::string>> files{{"FILE", "IS THERE", "SETS"}};
    for (const ConfigFile& each : config_files(app)) {
        files.push_back({each.path, exists(each) ? "yes" : "no", each.what});
    }
    fmt::print("{}\n{}", values.size() > 1 ? text_table(values) : "everything has its default value\n",
               text_table(files));
}

// What the configuration file may set an option to. The command says what is wrong with a value.
Json schema_of(const CLI::Option& option) {
    if (!takes_value(option)) {
        return {{"type", "boolean"}};
    }
    const Json value = {{"type", {"string", "number"}}};
    if (option.get_items_expected_max() == 1) {
        return value;
    }
    return {{"anyOf", {value, {{"type", "array"}, {"items", value}}}}};
}

// Of the table of a command, with those of its subcommands.
Json schema_of(const CLI::App& command) {
    Json properties = Json::object();
    for (const CLI::Option* option : named_options_of(command)) {
        if (option->get_lnames().empty() || option == command.get_help_ptr()) {
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
    const auto run = [&app, json, &invocation] {
        invocation.run = [&app, json] {
            *json ? print_values(app) : print_tables(app);
            return 0;
        };
    };
    CLI::App* show = command->add_subcommand("show", "The same");
    CLI::App* schema = command->add_subcommand("schema", "A JSON Schema of the configuration file, for your editor");
    for (CLI::App* each : {command, show, schema}) { // the schema is JSON in any case
        add_json(*each, *json);
    }
    show->callback(run);
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
