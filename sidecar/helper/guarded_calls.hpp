#pragma once
// The calls that open, name, move and remove files, made in a caller's place.

#include "caller.hpp"
#include "judge.hpp"

namespace cellgate::helper {

// Judges the call that `caller` waits for, makes it, and answers.
void make_call(const Caller& caller, const Judge& judge);

} // namespace cellgate::helper
