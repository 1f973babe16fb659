#pragma once
// `OwnSockets` are the unix sockets that this sandbox bound in folders that programs outside can see. Each file is
// held, so that no later one can have its inode number.

#include "path_walk.hpp"

#include <ctime>
#include <vector>

namespace cellgate::helper {

class OwnSockets {
  public:
    // For one more: forgets sockets whose last name was removed. Throws CallError{ENOBUFS} when there are too many.
    void make_room();
    // Adds the socket that is now at `place`, unless it is older than `since`: when the path was resolved a second
    // time, a program outside may have redirected it to another socket.
    void add(const Place& place, const timespec& since);
    bool has(const OpenNode& socket) const;

    // Whether the age of what is made in there will be known.
    static bool can_tell_age_in(const OpenNode& folder);

  private:
    std::vector<OpenNode> held_;
};

} // namespace cellgate::helper
