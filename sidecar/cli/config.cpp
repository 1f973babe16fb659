// `cellgate config`: what is set outside the editors, and where.

#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json.hpp"
#include "commands.hpp"
#include "config_file.hpp"
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

void print_json(const CLI::App& app) {
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

} // namespace

void add_config(CLI::App& app, Invocation& invocation) {
    auto json = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("config", "Show what is set by files and variables, and where");
    const auto run = [&app, json, &invocation] {
        invocation.run = [&app, json] {
            *json ? print_json(app) : print_tables(app);
            return 0;
        };
    };
    for (CLI::App* each : {command, command->add_subcommand("show", "The same")}) {
        each->add_flag("--json", *json, "As JSON");
        each->callback(run);
    }
}

} // namespace cellgate::cli
