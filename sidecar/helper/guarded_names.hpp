#pragma once
// The names that nobody in a sandbox may give to a file: programs outside would run or obey it. They count in places
// that programs outside can see; scratch space that is mounted goes with the sandbox.

#include "path_walk.hpp"

#include <set>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace cellgate::helper {

class GuardedNames {
  public:
    // `text`: three lists, each of which an empty text ends, every text ended by a NUL. The names; the scratch places;
    // the folders of the machine that are shown, whose own paths may hold such names. Reads the places' devices now.
    explicit GuardedNames(const std::string& text);

    // Whether that may not be made, moved or changed there: also what lies below such a name.
    bool keep(const Place& place) const;
    // The same of what is there.
    bool keep(const Held& held) const;

  private:
    bool is_guarded(std::string_view name) const;
    bool lies_below_guarded(const std::string& path) const;

    std::vector<std::string> names_;
    std::set<dev_t> scratch_;
    std::vector<std::string> shown_;
};

} // namespace cellgate::helper
