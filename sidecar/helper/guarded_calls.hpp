#pragma once
// The calls that give a name to a file, made in a caller's place.

#include "caller.hpp"
#include "guarded_names.hpp"

namespace cellgate::helper {

// Judges the call that `caller` waits for, makes it, and answers.
void make_call(const Caller& caller, const GuardedNames& names);

} // namespace cellgate::helper
