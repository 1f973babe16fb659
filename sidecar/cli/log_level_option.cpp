#include "log_level_option.hpp"

#include <map>

namespace cellgate::cli {

void add_log_level(CLI::App& command, LogLevel& level, const std::string& meaning) {
    std::map<std::string, LogLevel> levels;
    for (const LogLevel each : {LogLevel::error, LogLevel::warning, LogLevel::info, LogLevel::debug}) {
        levels.emplace(name_of(each), each);
    }
    command.add_option("--log-level", level, meaning + ": error, warning, info or debug")
        ->transform(CLI::CheckedTransformer(levels).description({}))
        ->type_name("LEVEL");
}

} // namespace cellgate::cli
