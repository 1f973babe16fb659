#include "config_file.hpp"

#include "base/environment.hpp"
#include "command_tree.hpp"
#include "store/directories.hpp"

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <toml++/toml.h>

namespace cellgate::cli {

namespace {

// A path as the shell would give it.
std::string expanded(const std::string& text) {
    const auto environment = process_environment();
    const auto home = environment.find("HOME");
    return text.starts_with("~/") && home != environment.end() ? home->second + text.substr(1) : text;
}

std::string text_of(const toml::node& node) {
    if (const auto* string = node.as_string()) {
        return expanded(string->get());
    }
    std::ostringstream text;
    if (const auto* number = node.as_integer()) {
        text << number->get();
    } else if (const auto* fraction = node.as_floating_point()) {
        text << *fraction;
    } else if (const auto* truth = node.as_boolean()) {
        text << (truth->get() ? "true" : "false");
    } else {
        throw CLI::ConfigError(fmt::format("line {}: no option has such a value", node.source().begin.line));
    }
    return text.str();
}

struct Entry {
    CLI::ConfigItem option;
    unsigned line = 0;
};

void add_entries(const toml::table& table, const std::vector<std::string>& parents, std::vector<Entry>& entries) {
    for (const auto& [key, node] : table) {
        if (const auto* part = node.as_table()) {
            std::vector<std::string> deeper = parents;
            deeper.emplace_back(key.str());
            add_entries(*part, deeper, entries);
            continue;
        }
        Entry entry{{parents, std::string(key.str()), {}}, node.source().begin.line};
        if (const auto* list = node.as_array()) {
            for (const toml::node& each : *list) {
                entry.option.inputs.push_back(text_of(each));
            }
        } else {
            entry.option.inputs.push_back(text_of(node));
        }
        entries.push_back(std::move(entry));
    }
}

// Throws CLI::ConfigError.
std::vector<Entry> read_entries(std::istream& input) {
    std::vector<Entry> entries;
    try {
        add_entries(toml::parse(input), {}, entries);
    } catch (const toml::parse_error& error) {
        const toml::source_position where = error.source().begin;
        throw CLI::ConfigError(fmt::format("line {}, column {}: {}", where.line, where.column, error.description()));
    }
    return entries;
}

// Whether `app`, which was parsed, takes it. Throws CLI::ConfigError if it never does.
bool is_taken(const CLI::App& app, const Entry& entry) {
    const CLI::App* command = &app;
    for (const std::string& name : entry.option.parents) {
        command = command == nullptr ? nullptr : find_subcommand(*command, name);
    }
    if (command == nullptr || command == &app || command->get_option_no_throw("--" + entry.option.name) == nullptr) {
        throw CLI::ConfigError(
            fmt::format("line {}: {} is no option of a subcommand", entry.line, entry.option.fullname()));
    }
    return command->parsed();
}

class TomlConfig : public CLI::Config {
  public:
    explicit TomlConfig(const CLI::App& app) : app_(app) {}
    std::string to_config(const CLI::App* /*app*/, bool /*defaults*/, bool /*descriptions*/,
                          std::string /*prefix*/) const override {
        return {};
    }
    std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
        std::vector<CLI::ConfigItem> options;
        for (Entry& entry : read_entries(input)) {
            if (is_taken(app_, entry)) {
                options.push_back(std::move(entry.option));
            }
        }
        return options;
    }

  private:
    const CLI::App& app_;
};

} // namespace

void use_config_file(CLI::App& app) {
    std::string file;
    try {
        file = store::find_directories(process_environment()).config + "/config.toml";
    } catch (const Error&) { // no home: the command says so if it needs one
    }
    app.config_formatter(std::make_shared<TomlConfig>(app));
    app.set_config("--config-file", file, "Options in TOML, as `cellgate config` shows them")->type_name("FILE");
}

std::string config_file_of(const CLI::App& app) {
    return app.get_config_ptr()->as<std::string>();
}

Error config_file_error(const CLI::App& app, const CLI::ConfigError& error) {
    return Error(ErrorCode::config_invalid, fmt::format("{}: {}", config_file_of(app), error.what()),
                 "[run] holds options of `cellgate run`, without their dashes; `cellgate help run` lists them.");
}

std::vector<ConfiguredOption> configured_options(const CLI::App& app) {
    const auto file = config_file_of(app);
    std::ifstream input(file);
    std::vector<ConfiguredOption> options;
    for (const Entry& entry : read_entries(input)) {
        options.push_back({entry.option.fullname(), entry.option.inputs, fmt::format("{}:{}", file, entry.line)});
    }
    return options;
}

} // namespace cellgate::cli
