#include "session_options.hpp"

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
        choice.launcher = from_json<protocol::SandboxLauncher>(fmt::format("\"{}\"", launcher), "--sandbox");
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

protocol::KernelChoice kernel_choice(const std::string& kernel) {
    protocol::KernelChoice choice;
    (kernel.find('/') == std::string::npos ? choice.name : choice.interpreter) = kernel;
    return choice;
}

} // namespace cellgate::cli
