#include "config_file.hpp"

#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"
#include "base/suggest.hpp"
#include "command_tree.hpp"
#include "store/directories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <set>
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

// "; did you mean run.sandbox?", if there is one like it.
std::string meant_option(const CLI::App& app, const CLI::ConfigItem& item) {
    const CLI::App* command = &app;
    std::string path;
    for (const std::string& name : item.parents) {
        std::vector<std::string> names;
        for (const CLI::App* each : subcommands_of(*command)) {
            names.push_back(each->get_name());
        }
        const std::string nearest = nearest_name(name, names);
        command = find_subcommand(*command, nearest);
        if (command == nullptr) {
            return {};
        }
        path += nearest + ".";
    }
    std::vector<std::string> names;
    for (const CLI::Option* option : named_options_of(*command)) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back(name);
        }
    }
    const std::string nearest = command == &app ? std::string() : nearest_name(item.name, names);
    return nearest.empty() ? nearest : fmt::format("; did you mean {}{}?", path, nearest);
}

// Throws CLI::ConfigError if no subcommand of `app` has it.
CLI::Option& option_of(CLI::App& app, const CLI::ConfigItem& item) {
    CLI::App* command = &app;
    for (const std::string& name : item.parents) {
        if (find_subcommand(*command, name) == nullptr) {
            throw CLI::ConfigError(item.fullname() + " is no option of a subcommand" + meant_option(app, item));
        }
        command = command->get_subcommand(name);
    }
    CLI::Option* option = command == &app ? nullptr : command->get_option_no_throw("--" + item.name);
    if (option == nullptr) {
        throw CLI::ConfigError(item.fullname() + " is no option of a subcommand" + meant_option(app, item));
    }
    return *option;
}

bool is_parsed(CLI::App& app, const std::vector<std::string>& names) {
    CLI::App* command = &app;
    for (const std::string& name : names) {
        command = command->get_subcommand(name);
    }
    return command->parsed();
}

struct Taken {
    Entry entry;
    CLI::Option* option;
};

bool is_among(const std::vector<Taken>& all, const CLI::Option* option) {
    return std::any_of(all.begin(), all.end(), [&](const Taken& each) { return each.option == option; });
}

// Leaves out what the command line replaces or excludes, and what needs something that is left out.
void leave_out_replaced(std::vector<Taken>& taken) {
    std::vector<const CLI::Option*> out;
    std::erase_if(taken, [&](const Taken& each) {
        const std::set<CLI::Option*> excludes = each.option->get_excludes();
        const bool replaced = !each.option->empty() || std::any_of(excludes.begin(), excludes.end(),
                                                                   [](auto* other) { return !other->empty(); });
        if (replaced && each.option->empty()) {
            out.push_back(each.option);
        }
        return replaced;
    });
    std::erase_if(taken, [&](const Taken& each) {
        const std::set<CLI::Option*> needs = each.option->get_needs();
        return std::any_of(needs.begin(), needs.end(),
                           [&](auto* other) { return std::find(out.begin(), out.end(), other) != out.end(); });
    });
}

// Throws CLI::ConfigError for a value that its option does not take, and for two that exclude each other.
void require_good(const std::vector<Taken>& taken) {
    for (const auto& [entry, option] : taken) {
        if (const std::string wrong = wrong_value(*option, entry.option.inputs); !wrong.empty()) {
            throw CLI::ConfigError(fmt::format("line {}: {}: {}", entry.line, entry.option.fullname(), wrong));
        }
        for (CLI::Option* other : option->get_excludes()) {
            if (is_among(taken, other)) {
                throw CLI::ConfigError(
                    fmt::format("line {}: {} excludes {}", entry.line, entry.option.fullname(), other->get_name()));
            }
        }
    }
}

// Throws CLI::ConfigError.
std::vector<CLI::ConfigItem> items_for(CLI::App& app, std::istream& input) {
    std::vector<Taken> taken;
    for (Entry& entry : read_entries(input)) {
        try {
            CLI::Option& option = option_of(app, entry.option);
            if (is_parsed(app, entry.option.parents)) {
                taken.push_back({std::move(entry), &option});
            }
        } catch (const CLI::ConfigError& error) {
            throw CLI::ConfigError(fmt::format("line {}: {}", entry.line, error.what()));
        }
    }
    leave_out_replaced(taken);
    require_good(taken);
    std::vector<CLI::ConfigItem> items;
    for (Taken& each : taken) {
        items.push_back(std::move(each.entry.option));
    }
    return items;
}

bool is_one_of(const CLI::App& app, std::initializer_list<const char*> names) {
    const auto parsed = app.get_subcommands();
    return !parsed.empty() && std::find(names.begin(), names.end(), parsed.front()->get_name()) != names.end();
}

class TomlConfig : public CLI::Config {
  public:
    explicit TomlConfig(CLI::App& app) : app_(app) {}
    std::string to_config(const CLI::App* /*app*/, bool /*defaults*/, bool /*descriptions*/,
                          std::string /*prefix*/) const override {
        return {};
    }
    // What examines or ends cellgate works whatever is in the file.
    std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
        try {
            return items_for(app_, input);
        } catch (const CLI::ConfigError& error) {
            if (is_one_of(app_, {"status", "stop"})) {
                fmt::print(stderr, "cellgate: {}\n", escape_unprintable(config_file_error(app_, error).message));
                return {};
            }
            if (is_one_of(app_, {"config", "doctor"})) { // which say so in their way
                return {};
            }
            throw;
        }
    }

  private:
    CLI::App& app_;
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

std::string wrong_value(CLI::Option& option, const std::vector<std::string>& values) {
    if (!takes_value(option) && values.size() != 1) {
        return "expected true or false";
    }
    std::string wrong;
    try {
        option.clear();
        for (const std::string& value : values) {
            option.add_result(value);
        }
        option.run_callback();
    } catch (const CLI::ParseError& error) {
        wrong = error.what();
        if (const std::string name = option.get_name() + ": "; wrong.starts_with(name)) {
            wrong.erase(0, name.size());
        }
    }
    option.clear();
    return wrong;
}

ConfigFileContent config_file_content(const CLI::App& app, CLI::App& tree) {
    const auto file = config_file_of(app);
    std::ifstream input(file);
    ConfigFileContent content;
    try {
        for (const Entry& entry : read_entries(input)) {
            ConfiguredOption option{
                entry.option.fullname(), entry.option.inputs, fmt::format("{}:{}", file, entry.line), {}};
            try {
                option.wrong = wrong_value(option_of(tree, entry.option), entry.option.inputs);
            } catch (const CLI::ConfigError&) {
                option.wrong = "no subcommand has such an option" + meant_option(tree, entry.option);
            }
            content.options.push_back(std::move(option));
        }
    } catch (const CLI::ConfigError& error) {
        content.error = error.what();
    }
    return content;
}

} // namespace cellgate::cli
