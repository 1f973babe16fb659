#pragma once
// The calls that change mode, owner, dates and extended attributes of files, made in a caller's place: Landlock knows
// nothing of them, so that without mounts nothing else keeps a cell from opening all files of the user to everybody.

#include "caller.hpp"
#include "access_policy.hpp"

namespace cellgate::helper {

// False when the call that `caller` waits for is none of these. Throws CallError.
bool make_attribute_call(const Caller& caller, const AccessPolicy& policy);

} // namespace cellgate::helper
