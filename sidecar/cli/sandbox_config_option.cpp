#include "sandbox_config_option.hpp"

namespace cellgate::cli {

CLI::Option* add_sandbox_config(CLI::App& command, std::string& file) {
    return command
        .add_option("--sandbox-config", file,
                    "A settings file in srt's format, such as ipybox's sandbox.json: what it allows is shown beside "
                    "what the sandbox always shows, what it denies is hidden")
        ->check(CLI::ExistingFile.description({}))
        ->type_name("FILE");
}

} // namespace cellgate::cli
