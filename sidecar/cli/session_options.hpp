#pragma once
// `SessionSandbox` is the group of options for the sandbox of a session that a command creates; `add_kernel`,
// `add_profile` and `add_kernel_environment` are its kernel, profile and variables of the environment.

#include "protocol/messages/sessions.hpp"
#include "sandbox_options.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::cli {

// --sandbox, --no-sandbox and those of SandboxOptions.
struct SessionSandbox {
    bool none = false;
    std::string launcher; // empty: the default
    std::string image;    // empty: none
    SandboxOptions options;

    // Must outlive the parsing of the command line. Returns the options that ask for a sandbox.
    std::vector<CLI::Option*> add_to(CLI::App& command);
    protocol::SandboxChoice choice() const;
};

// `kernel` and `profile` stay empty without the option; they must outlive the parsing of the command line.
void add_kernel(CLI::App& command, std::string& kernel);
void add_profile(CLI::App& command, std::string& profile);

// `variables`: each "NAME=VALUE".
void add_kernel_environment(CLI::App& command, const std::string& option, std::vector<std::string>& variables);
// As session/create takes it; nothing for none.
std::optional<std::map<std::string, std::string>> kernel_environment(const std::vector<std::string>& variables);

// A kernelspec's name, or the path of an interpreter.
protocol::KernelChoice kernel_choice(const std::string& kernel);

} // namespace cellgate::cli
