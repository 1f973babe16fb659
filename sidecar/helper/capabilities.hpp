#pragma once
// The rights of root, given up for good.

namespace cellgate::helper {

// Of this process and all that it will start. False with errno.
bool drop_capabilities();

} // namespace cellgate::helper
