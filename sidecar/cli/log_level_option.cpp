#include "log_level_option.hpp"

#include "value_checks.hpp"

#include <map>

namespace cellgate::cli {

void add_log_level(CLI::App& command, LogLevel& level, const std::string& meaning) {
    std::map<std::string, LogLevel> levels;
    std::vector<std::string> names;
    for (const LogLevel each : {LogLevel::error, LogLevel::warning, LogLevel::info, LogLevel::debug}) {
        levels.emplace(name_of(each), each);
        names.emplace_back(name_of(each));
    }
    const std::string usual(name_of(level));
    command
        .add_option_function<std::string>(
            "--log-level", [&level, levels](const std::string& name) { level = levels.at(name); },
            meaning + ": error, warning, info or debug")
        ->check(one_of(names))
        ->default_str(usual)
        ->type_name("LEVEL");
}

} // namespace cellgate::cli
