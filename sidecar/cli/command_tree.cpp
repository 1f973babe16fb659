#include "command_tree.hpp"

#include <algorithm>

namespace cellgate::cli {

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

const CLI::App* find_subcommand(const CLI::App& app, const std::string& name) {
    const std::vector<const CLI::App*> all = subcommands_of(app);
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const CLI::App* each) { return each->check_name(name); });
    return found == all.end() ? nullptr : *found;
}

std::vector<const CLI::Option*> named_options_of(const CLI::App& app) {
    return app.get_options(
        [](const CLI::Option* option) { return option->nonpositional() && !option->get_group().empty(); });
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& app) {
    return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames()) {
        names.push_back("-" + name);
    }
    for (const std::string& name : option.get_lnames()) {
        names.push_back("--" + name);
    }
    return names;
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() != 0; // 0: a flag
}

std::string value_name(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    return type.empty() ? option.get_name(true) : type;
}

std::string usage_of(const CLI::App& app) {
    std::string usage = "[OPTIONS]";
    for (const CLI::Option* positional : positionals_of(app)) {
        const std::string name = value_name(*positional) + (positional->get_items_expected_max() > 1 ? "..." : "");
        usage += positional->get_required() ? " " + name : " [" + name + "]";
    }
    if (!subcommands_of(app).empty()) {
        usage += app.get_require_subcommand_min() > 0 ? " SUBCOMMAND" : " [SUBCOMMAND]";
    }
    return usage;
}

} // namespace cellgate::cli
