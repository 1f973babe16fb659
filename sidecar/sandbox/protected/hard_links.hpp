#pragma once
// `HardLinkIndex` finds the other names of protected files: a file that a cell must not reach under one name must not
// be reachable under another.

#include <map>
#include <set>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace cellgate::sandbox {

class HardLinkIndex {
  public:
    // A file whose names are to be found: nothing where it has one only, or is no regular file. `path` is that of one.
    void of(const std::string& path);
    // The files right in a user's home, and in its folders, whose name or whose folder's name is that of a secret.
    void of_secrets_in(const std::string& home);

    // The names below `top` that were not given to of(). Looks into all folders, and stops when no name can be left; at
    // once where no file has a second one. Throws Error{sandbox_unavailable} when there is too much to be searched.
    std::vector<std::string> find_in(const std::string& top) const;

  private:
    struct File {
        std::set<std::string> known;
        nlink_t names = 0;
    };
    std::map<std::pair<dev_t, ino_t>, File> files_;
};

} // namespace cellgate::sandbox
