#pragma once
// connected_program() is which program made a TCP connection within this network namespace, by what /proc says.

#include <string>
#include <sys/types.h>

namespace cellgate::helper {

// Of the connection that was accepted as `client`, at most 255 bytes. In the first line are the socket's inode, after
// "command " when the program is `command`, and which thread started which process on the way to the program ("41:2");
// then comes the program's command line. Empty when it has gone.
std::string connected_program(int client, pid_t command);

} // namespace cellgate::helper
