#include "session_options.hpp"

#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace cellgate::cli {

std::vector<CLI::Option*> SessionSandbox::add_to(CLI::App& command) {
    CLI::Option* without = command.add_flag("--no-sandbox", none, "Run without any isolation");
    std::vector<CLI::Option*> added = options.add_to(command);
    added.push_back(add_sandbox_launcher(command, launcher));
    added.push_back(add_sandbox_image(command, image));
    for (CLI::Option* option : added) {
        option->excludes(without);
    }
    return added;
}

protocol::SandboxChoice SessionSandbox::choice() const {
    protocol::SandboxChoice choice;
    choice.isolated = !none;
    if (!launcher.empty()) {
        choice.launcher = parse_enum<protocol::SandboxLauncher>(launcher); // the option takes no other
    }
    if (!image.empty()) {
        choice.image = image;
    }
    if (!options.config.empty()) {
        choice.config_file = std::filesystem::absolute(options.config);
    }
    const sandbox::Additions additions = options.additions();
    if (!additions.allow_read.empty()) {
        choice.additions.allow_read = additions.allow_read;
    }
    if (!additions.allow_write.empty()) {
        choice.additions.allow_write = additions.allow_write;
    }
    if (additions.gpu) {
        choice.additions.gpu = true;
    }
    return choice;
}

void add_kernel(CLI::App& command, std::string& kernel) {
    command
        .add_option("--kernel", kernel,
                    "A kernelspec's name or the path of a Python interpreter; see `cellgate kernels`")
        ->type_name("NAME|PATH");
}

void add_profile(CLI::App& command, std::string& profile) {
    command.add_option("--profile", profile, "What the code may import, its limits and hosts: see `cellgate runtimes`")
        ->type_name("NAME");
}

void add_kernel_environment(CLI::App& command, const std::string& option, std::vector<std::string>& variables) {
    command.add_option(option, variables, "A variable for the code. May be given more than once")
        ->check([](const std::string& text) {
            return text.find('=') != std::string::npos && text.front() != '='
                       ? std::string()
                       : "expected NAME=VALUE, found " + escape_unprintable(text);
        })
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
}

std::optional<std::map<std::string, std::string>> kernel_environment(const std::vector<std::string>& variables) {
    if (variables.empty()) {
        return std::nullopt;
    }
    std::map<std::string, std::string> all;
    for (const std::string& variable : variables) {
        const std::size_t equals = variable.find('=');
        all[variable.substr(0, equals)] = variable.substr(equals + 1);
    }
    return all;
}

protocol::KernelChoice kernel_choice(const std::string& kernel) {
    protocol::KernelChoice choice;
    (kernel.find('/') == std::string::npos ? choice.name : choice.interpreter) = kernel;
    return choice;
}

} // namespace cellgate::cli
