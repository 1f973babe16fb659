#pragma once
// The unix sockets that got their paths in this sandbox, in folders that programs outside can see. Each file is held,
// so that no later one can have its number.

#include "path_walk.hpp"

#include <ctime>
#include <vector>

namespace cellgate::helper {

class OwnSockets {
  public:
    // For one more: forgets those that no path leads to any more. Throws CallError{ENOBUFS} when there are too many.
    void make_room();
    // What stands in the place by now; nothing, if that is no socket, or older than `since`: where the path was looked
    // up once more, somebody outside may have led it elsewhere, and moved another socket there.
    void add(const Place& place, const timespec& since);
    bool has(const OpenNode& socket) const;

    // Whether the age of what is made in there will be known.
    static bool can_tell_age_in(const OpenNode& folder);

  private:
    std::vector<OpenNode> held_;
};

} // namespace cellgate::helper
