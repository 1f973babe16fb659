#pragma once
// `Installer` is the package manager of one install: its command, what the command sees, and the folder that its
// result goes to. `Installs` asks the gate, and runs it.

#include "base/environment.hpp"
#include "base/task.hpp"
#include "packages/package_folder.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cellgate::packages {

class Installer {
  public:
    virtual ~Installer() = default;

    virtual std::string name() const = 0; // "pip"
    // The program with its arguments, exactly. Runs nothing that could reach the network. Throws Error{config_invalid,
    // limit_exceeded}.
    virtual Task<std::vector<std::string>> find_command() = 0;
    // The user's variables that say where packages come from.
    virtual const Environment& index_settings() const = 0;
    // Those, and what the program needs beside.
    virtual Environment environment() const = 0;
    // Paths that the program has to see, read-only: its own, and certificates that the user's variables name.
    virtual std::vector<std::string> read_only() const = 0;
    virtual bool prints_on_stderr() const { return false; } // also what it does, not only what fails
    // Blocks, as the functions of the folder do. Throws Error{store_failed}.
    virtual std::unique_ptr<PackageFolder> open_folder() const = 0;
    // Writes what the program needs to find in `directory`. Blocks. Throws Error{store_failed}.
    virtual void prepare(const std::string& directory) const;
    // What the program itself calls the error, in what it printed on stderr.
    virtual std::string last_words(const std::string& errors) const = 0;
};

using VariableNames = std::span<const char* const>;

// Of a user's variables those with these names that have a value.
Environment chosen_variables(const Environment& environment, VariableNames names);
// The absolute paths in the variables with these names that exist. Blocks.
std::vector<std::string> existing_files(const Environment& environment, VariableNames names);

} // namespace cellgate::packages
