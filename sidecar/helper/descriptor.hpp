#pragma once
// `close_all_but` closes descriptors that a program must not inherit.

#include "base/unique_fd.hpp"

#include <vector>

namespace cellgate::helper {

// From `first` on; numbers below 0 are none. False with errno when the system cannot.
bool close_all_but(std::vector<int> keep, int first);

} // namespace cellgate::helper
