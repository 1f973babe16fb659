#pragma once
// `open_again` opens a file that is held already, which no race can exchange; `open_slowly` does so in a process of its
// own, where the open may block.

#include "caller.hpp"
#include "descriptor.hpp"

#include <functional>
#include <string>

namespace cellgate::helper {

// The path of a descriptor of this process, as a link to be followed.
std::string own_link(const UniqueFd& descriptor);

// Of `flags`, those that make a file are left out. -1 with errno.
UniqueFd open_again(const UniqueFd& held, int flags);

// In a process of its own: tries until `attempt` has answered the caller and returns 0, or returns an errno to answer
// with. EINTR is tried again until a signal is to interrupt the caller. Returns at once.
void answer_slowly(const Caller& caller, const std::function<int()>& attempt);

// Answers the caller once it is open, or fails, or when a signal is to interrupt the caller. Returns at once.
void open_slowly(const Caller& caller, const UniqueFd& held, int flags);

} // namespace cellgate::helper
