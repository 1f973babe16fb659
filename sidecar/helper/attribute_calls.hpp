#pragma once
// `make_attribute_call` makes the calls that change mode, owner, dates and extended attributes of files in a caller's
// place. Landlock does not control these calls: without mounts, only the guard keeps a cell from making all files of
// the user readable for everybody.

#include "access_policy.hpp"
#include "caller.hpp"

namespace cellgate::helper {

// False when the call that `caller` waits for is none of these. Throws CallError.
bool make_attribute_call(const Caller& caller, const AccessPolicy& policy);

} // namespace cellgate::helper
