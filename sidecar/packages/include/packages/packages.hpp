#pragma once
// `Packages` is what pip installed for the kernels of a workspace that have the same Python: a folder for each install,
// of which kernels look in the newest one first.

#include "packages/package_folder.hpp"
#include "packages/python.hpp"

namespace cellgate::packages {

class Packages final : public PackageFolder {
  public:
    // Makes its directories. Throws Error{store_failed}.
    Packages(const store::Directories& directories, const std::string& root, const Python& python);

    std::vector<protocol::InstalledPackage> publish(const Build& build) const override;

  private:
    std::string next_name() const;
    static std::optional<protocol::InstalledPackage> package_of(std::string_view name);
};

} // namespace cellgate::packages
