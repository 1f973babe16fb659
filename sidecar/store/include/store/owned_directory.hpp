#pragma once
// A directory that is there for one thing that lives, such as a start of a kernel, and is locked for as long. When this
// process ends and it is still there, it is swept (async/swept.hpp). What is left even so, as when all of a machine's
// processes are killed, whoever makes the next one removes: those that nobody holds.
//
// All makers must do it this way: an unlocked directory with the same prefix counts as left, whoever made it.

#include "async/swept.hpp"
#include "store/directory_lock.hpp"

#include <memory>
#include <string>

namespace cellgate::store {

struct OwnedDirectory {
    std::string path;
    // To be kept until the directory is removed.
    std::unique_ptr<async::Swept> swept = {};
    std::unique_ptr<DirectoryLock> lock = {};
};

// A new directory "<parent>/<prefix>XXXXXX", 0700, in a directory that only we can write. Before, all others there with
// this prefix are removed that are ours and not locked. That may take long: off the loop, please.
OwnedDirectory make_owned_directory(const std::string& parent, const std::string& prefix);

} // namespace cellgate::store
