#pragma once
// `SessionSandbox` is the group of options for the sandbox of a session that a command creates; `add_kernel` and
// `add_profile` are its kernel and profile.

#include "protocol/messages/sessions.hpp"
#include "sandbox_options.hpp"

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

// A kernelspec's name, or the path of an interpreter.
protocol::KernelChoice kernel_choice(const std::string& kernel);

} // namespace cellgate::cli
