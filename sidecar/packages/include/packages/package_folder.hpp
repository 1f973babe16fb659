#pragma once
// `PackageFolder` is what was installed for the kernels of a workspace by one package manager, in the data directory.
// Kernels see `shown()`, read-only. An install is made beside it and published by renaming, so one that fails or is
// broken off changes nothing. Several processes may install at once.
//
// What a build made is hostile: it is renamed and its names are read, nothing in it is opened or followed.

#include "base/unique_fd.hpp"
#include "protocol/messages/packages.hpp"
#include "store/directories.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::packages {

class PackageFolder {
  public:
    virtual ~PackageFolder() = default;

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
    virtual std::vector<protocol::InstalledPackage> publish(const Build& build) const = 0;
    static void discard(const Build& build);

  protected:
    // Makes its directories. `key`: of the package manager and what it installs for. Throws Error{store_failed}.
    PackageFolder(const store::Directories& directories, const std::string& root, const std::string& key);

    // One process at a time makes, publishes or clears away: for as long as the descriptor is held.
    UniqueFd take_turn() const;
    const std::string& folder() const { return folder_; }

    // The result of a build, as a folder; a link is none. All of it is on the disk then.
    static UniqueFd open_result(const std::string& path);
    // Throws Error{limit_exceeded} when there are very many.
    static std::vector<std::string> names_in(const std::string& path);
    // Whether `text` is letters and digits of ASCII and the characters of `others`; not empty.
    static bool is_plain(std::string_view text, std::string_view others);
    static void sort(std::vector<protocol::InstalledPackage>& installed);

  private:
    std::string folder_;
    std::string shown_;
};

} // namespace cellgate::packages
