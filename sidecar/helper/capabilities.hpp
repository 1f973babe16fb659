#pragma once
// `drop_capabilities` gives up the rights of root for good.

namespace cellgate::helper {

// Of this process and all that it will start. False with errno.
bool drop_capabilities();

} // namespace cellgate::helper
