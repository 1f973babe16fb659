#pragma once
// `NpmPackages` is what Deno installed for its kernels in a workspace: one folder of the layout that Deno itself makes
// of `node_modules`, to which each install adds. `.deno` has a folder for each version of a package, which an install
// that runs no scripts leaves as it is; links beside it name the version that was installed last. Deno's lockfile of
// the last install is kept beside what kernels see.

#include "packages/package_folder.hpp"

namespace cellgate::packages {

class NpmPackages final : public PackageFolder {
  public:
    // `scripts`: of an install that runs its packages' scripts, whose versions replace those that are there. Makes its
    // directories. Throws Error{store_failed}.
    NpmPackages(const store::Directories& directories, const std::string& root, bool scripts = false);

    std::vector<protocol::InstalledPackage> publish(const Build& build) const override;

  private:
    void add_version(const std::string& made, const std::string& kept) const;
    static void add_links(const std::string& made, const std::string& kept, bool of_scope = false);
    static std::optional<protocol::InstalledPackage> package_of(std::string_view folder_name);

    bool scripts_;
};

} // namespace cellgate::packages
