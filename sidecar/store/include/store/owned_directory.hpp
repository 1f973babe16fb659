#pragma once
// A directory that is there for one thing that lives, such as a start of a kernel, and is locked for as long. Whoever
// makes the next one removes those that nobody holds: what a crash left.
//
// All makers must do it this way: an unlocked directory with the same prefix counts as left, whoever made it.

#include "store/directory_lock.hpp"

#include <memory>
#include <string>

namespace cellgate::store {

struct OwnedDirectory {
    std::string path;
    std::unique_ptr<DirectoryLock> lock; // to be kept until the directory is removed
};

// A new directory "<parent>/<prefix>XXXXXX", 0700, in a directory that only we can write. Before, all others there with
// this prefix are removed that are ours and not locked. That may take long: off the loop, please.
OwnedDirectory make_owned_directory(const std::string& parent, const std::string& prefix);

} // namespace cellgate::store
