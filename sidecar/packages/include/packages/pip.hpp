#pragma once
// `Pip` is the installer of Python packages. Wheels only, unless source builds are asked for: pip can start no process,
// so no package's code runs. `PipFinder` finds the pip that serves an interpreter, and remembers it.

#include "base/sync.hpp"
#include "packages/build_runner.hpp"
#include "packages/installer.hpp"
#include "packages/python.hpp"

#include <map>

namespace cellgate::packages {

class PipFinder {
  public:
    // `profile`: of a build that sees nothing yet.
    PipFinder(BuildRunner& runner, sandbox::BuildProfile profile) : runner_(runner), profile_(std::move(profile)) {}

    // The command up to pip's own arguments. An interpreter without pip (a virtual environment of uv's, say) is served
    // by the system's. One interpreter is looked at at a time, the others wait. Throws Error{config_invalid} when there
    // is no pip, Error{limit_exceeded} when too many wait.
    Task<std::vector<std::string>> find(Python python, bool source_builds);

  private:
    // The file that starts an interpreter's pip in another one; nothing when it has no pip.
    Task<std::optional<std::string>> find_runner(Python python);
    Task<std::optional<std::string>> ask_for_runner(Python python);

    BuildRunner& runner_;
    sandbox::BuildProfile profile_;
    std::map<std::string, std::string> runners_; // that were found, by the interpreter
    Mutex inspecting_;
};

class Pip final : public Installer {
  public:
    // `environment`: of this process. `finder` must outlive it.
    Pip(PipFinder& finder, const store::Directories& directories, std::string root, const Environment& environment,
        Python python, std::vector<std::string> packages, bool source_builds);

    std::string name() const override { return "pip"; }
    Task<std::vector<std::string>> find_command() override;
    const Environment& index_settings() const override { return index_settings_; }
    Environment environment() const override;
    std::vector<std::string> read_only() const override;
    std::unique_ptr<PackageFolder> open_folder() const override;
    std::string last_words(const std::string& errors) const override;

  private:
    PipFinder& finder_;
    const store::Directories& directories_;
    std::string root_;
    Environment index_settings_;
    Python python_;
    std::vector<std::string> packages_;
    bool source_builds_;
};

} // namespace cellgate::packages
