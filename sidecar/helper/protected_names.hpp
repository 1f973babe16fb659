#pragma once
// `ProtectedNames` are the names that no process in a sandbox may give to a file, because programs outside would run or
// obey it. They count in places that programs outside can see, not in mounted scratch space, which is removed with the
// sandbox.

#include "path_walk.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace cellgate::helper {

class ProtectedNames {
  public:
    // `text`: five lists, each of which an empty text ends, every text ended by a NUL. The names, in lower case, or "*"
    // and how names end; the scratch places; the folders of the machine that are shown, whose own paths may hold such
    // names; those of them that were made for the sandbox; and places that are guarded as if they had such a name:
    // absolute paths without links. Reads the scratch places' devices now.
    explicit ProtectedNames(const std::string& text);

    // Whether that may not be made, moved or changed there: also what is below such a name, and the folders above a
    // guarded place, which decide what it is.
    bool keep(const Place& place) const;
    // The same without the folders above a guarded place: what is made empty, or removed, decides nothing about it.
    bool keep_itself(const Place& place) const;
    // The same of what is there.
    bool keep(const OpenNode& held) const;
    // Whether programs outside may have made what is there.
    bool is_shared(const std::string& path) const;

  private:
    bool is_guarded(std::string_view name) const;
    bool is_guarded_place(const std::string& path) const;
    bool is_above_guarded_place(const std::string& path) const;
    bool lies_below_guarded(const std::string& path) const;

    std::set<std::string, std::less<>> names_;
    std::vector<std::string> endings_;
    std::set<dev_t> scratch_;
    std::vector<std::string> shown_;
    std::vector<std::string> own_;
    std::set<std::string> places_; // folded
};

} // namespace cellgate::helper
