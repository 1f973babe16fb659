#pragma once
// `Npm` is the installer of npm's packages: Deno, which runs no scripts of packages unless source builds are asked for.

#include "jupyter/deno.hpp"
#include "packages/installer.hpp"

namespace cellgate::packages {

class Npm final : public Installer {
  public:
    // `environment`: of this process.
    Npm(const store::Directories& directories, std::string root, const Environment& environment, jupyter::Deno deno,
        std::vector<std::string> packages, bool scripts);

    std::string name() const override { return "Deno"; }
    Task<std::vector<std::string>> find_command() override;
    const Environment& index_settings() const override { return index_settings_; }
    Environment environment() const override;
    std::vector<std::string> read_only() const override;
    bool prints_on_stderr() const override { return true; }
    std::unique_ptr<PackageFolder> open_folder() const override;
    void prepare(const std::string& directory) const override;
    std::string last_words(const std::string& errors) const override;

  private:
    const store::Directories& directories_;
    std::string root_;
    Environment index_settings_;
    jupyter::Deno deno_;
    std::vector<std::string> packages_;
    bool scripts_;
};

} // namespace cellgate::packages
