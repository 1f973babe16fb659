#include "workspace_option.hpp"

#include "value_checks.hpp"

namespace cellgate::cli {

void add_root(CLI::App& command, std::string& workspace) {
    command.add_option("--root", workspace, "The workspace; default: the current directory")
        ->check(existing_folder())
        ->type_name("DIR");
}

} // namespace cellgate::cli
