#pragma once
// `Packages` is what was installed for the kernels of a workspace that have the same Python: a folder for each install,
// in the data directory. Kernels see these folders, read-only, and look in the newest one first. An install is made
// beside them and becomes one of them by being renamed, so one that fails or is broken off changes nothing. Several
// processes may install at once.
//
// What a build made is hostile: it is renamed and its names are read, nothing in it is opened or followed.

#include "base/unique_fd.hpp"
#include "packages/python.hpp"
#include "protocol/messages/packages.hpp"
#include "store/directories.hpp"

#include <string>
#include <vector>

namespace cellgate::packages {

class Packages {
  public:
    // Makes its directories. Throws Error{store_failed}.
    Packages(const store::Directories& directories, const std::string& root, const Python& python);

    // What kernels see.
    const std::string& shown() const { return shown_; }

    // An install that is being made: `directory` holds `packages`, for its result, and `tmp`. No other process takes it
    // for left over.
    struct Build {
        std::string directory;
        UniqueFd held;
    };
    // These may take long: off the loop, please. Throw Error{store_failed}.
    Build begin() const; // removes what broken-off installs left
    std::vector<protocol::InstalledPackage> publish(const Build& build) const;
    static void discard(const Build& build);

  private:
    std::string folder_;
    std::string shown_;
};

} // namespace cellgate::packages
