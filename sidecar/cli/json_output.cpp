#include "json_output.hpp"

#include <fmt/format.h>

namespace cellgate::cli {

CLI::Option* add_json(CLI::App& command, bool& json) {
    return command.add_flag("--json", json, "As JSON");
}

void print_json(const Json& value) {
    fmt::print("{}\n", value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace cellgate::cli
