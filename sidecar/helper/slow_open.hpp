#pragma once
// Opening once more what is held already, which no race can exchange; and in a process of its own, where that may wait
// for somebody.

#include "caller.hpp"
#include "descriptor.hpp"

#include <string>

namespace cellgate::helper {

// The path of a descriptor of this process, as a link to be followed.
std::string own_link(const Descriptor& descriptor);

// Of `flags`, those that make a file are left out. -1 with errno.
Descriptor open_again(const Descriptor& held, int flags);

// Answers the caller once it is open, or fails, or when a signal is to interrupt the caller. Returns at once.
void open_slowly(const Caller& caller, const Descriptor& held, int flags);

} // namespace cellgate::helper
