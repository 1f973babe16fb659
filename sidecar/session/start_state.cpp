#include "start_state.hpp"

#include "base/fingerprint.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <sys/stat.h>

namespace cellgate::session {

namespace {

// Another one when the file was replaced or written, or an entry of the folder came or went.
void add_change_of(Fingerprint& text, const std::string& path) {
    struct stat status{};
    text.add(path);
    if (::stat(path.c_str(), &status) == 0) {
        text.add(
            fmt::format("{}:{}:{}.{}", status.st_dev, status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec));
    }
}

// Where packages of an interpreter are, and the files that name more places.
void add_packages(Fingerprint& text, const std::string& prefix) {
    std::error_code missing;
    for (const char* library : {"/lib", "/lib64"}) {
        for (const auto& entry : std::filesystem::directory_iterator(prefix + library, missing)) {
            if (entry.path().filename().native().starts_with("python")) {
                add_change_of(text, entry.path() / "site-packages");
                add_change_of(text, entry.path() / "dist-packages");
            }
        }
    }
}

// An image's own are not looked at: nothing changes the files of one.
std::string programs_of(const jupyter::KernelChoice& choice, const async::Command& command,
                        const sandbox::Profile& profile) {
    Fingerprint programs;
    if (profile.image) {
        programs.add(profile.image->id);
        return programs.hash();
    }
    add_change_of(programs, command.argv.at(0));
    add_change_of(programs, choice.program);
    if (choice.interpreter) {
        for (const std::string& prefix : {choice.interpreter->prefix, choice.interpreter->base_prefix,
                                          std::string("/usr"), std::string("/usr/local")}) {
            add_packages(programs, prefix);
        }
    }
    return programs.hash();
}

} // namespace

StartState state_of_start(const jupyter::KernelChoice& choice, const async::Command& command,
                          const sandbox::Profile& profile) {
    StartState state;
    state.programs = programs_of(choice, command, profile);
    Fingerprint argv;
    argv.add_all(command.argv);
    argv.add(command.cwd);
    state.command = argv.hash();
    Fingerprint environment;
    for (const auto& [name, value] : command.environment) {
        environment.add(name);
        environment.add(value);
    }
    state.environment = environment.hash();
    state.limits = profile.limits;
    return state;
}

std::optional<std::string> difference_of(const StartState& before, const StartState& now) {
    if (before.command != now.command) {
        return "it is another kernel, or has another working directory";
    }
    if (before.programs != now.programs) {
        return "its interpreter or its packages have changed";
    }
    if (before.environment != now.environment) {
        return "its environment is another one";
    }
    if (before.limits != now.limits) {
        return "its limits are others";
    }
    if (before.sandbox != now.sandbox) {
        return "what its sandbox shows, hides or protects has changed";
    }
    return std::nullopt;
}

} // namespace cellgate::session
