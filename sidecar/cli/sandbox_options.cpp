#include "sandbox_options.hpp"

#include "value_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace cellgate::cli {

namespace {

std::vector<std::string> absolute(const std::vector<std::string>& paths) {
    std::vector<std::string> all;
    for (const std::string& path : paths) {
        all.push_back(std::filesystem::absolute(path).lexically_normal().string());
    }
    return all;
}

CLI::Option* add_paths(CLI::App& command, const char* name, std::vector<std::string>& paths, const char* help) {
    return command.add_option(name, paths, help)->check(existing_path())->type_name("PATH");
}

} // namespace

CLI::Option* add_sandbox_config(CLI::App& command, std::string& file) {
    return command
        .add_option("--sandbox-config", file,
                    "A settings file in srt's format, such as ipybox's sandbox.json: what it allows is shown beside "
                    "what the sandbox always shows, what it denies is hidden")
        ->check(existing_file())
        ->type_name("FILE");
}

sandbox::Isolation isolation_of(const std::string& launcher) {
    return sandbox::find_isolation(launcher).value_or(sandbox::default_isolation);
}

CLI::Option* add_sandbox_launcher(CLI::App& command, std::string& launcher) {
    const std::vector<std::string> names = sandbox::sandbox_names();
    return command
        .add_option(
            "--sandbox", launcher,
            "What the sandbox is made by: bwrap, the default; gvisor, the same with a kernel of its own, slower; "
            "or landlock, which is weaker and needs no user namespaces. See `cellgate doctor`")
        ->check(one_of(names))
        ->type_name(fmt::format("{}", fmt::join(names, "|")));
}

CLI::Option* add_sandbox_image(CLI::App& command, std::string& image) {
    return command
        .add_option("--image", image,
                    "Run the Python of this image in place of the machine's: its files are the sandbox's system. See "
                    "`cellgate image --help`")
        ->type_name("NAME");
}

std::vector<CLI::Option*> SandboxOptions::add_to(CLI::App& command) {
    return {
        add_sandbox_config(command, config),
        add_paths(command, "--allow-read", allow_read,
                  "Show this folder or file in the sandbox, read-only. May be given more than once"),
        add_paths(command, "--allow-write", allow_write, "Show it, and let it be written. May be given more than once"),
        command.add_flag("--gpu", gpu, "Show the graphics cards in the sandbox, for computing")};
}

std::shared_ptr<const sandbox::Settings> SandboxOptions::settings() const {
    return config.empty() ? nullptr : sandbox::read_settings(std::filesystem::absolute(config));
}

sandbox::Additions SandboxOptions::additions() const {
    return {absolute(allow_read), absolute(allow_write), gpu};
}

} // namespace cellgate::cli
