#pragma once
// `find_connection_file` and `read_connection_file` find a kernel that already runs, as `jupyter console --existing`
// does. Both block.

#include "base/environment.hpp"
#include "jupyter/connection.hpp"

#include <string>

namespace cellgate::jupyter {

// What a connection file says of its kernel.
struct ExistingKernel {
    ConnectionInfo connection;
    std::string name; // of its kernelspec; of the file where that is not said
};

// `name`: an absolute path, one from the home directory (~/), or a name, a part of one or a pattern (* and ?) in the
// runtime directory of Jupyter, of which the newest file counts; empty: the newest of all. Throws
// Error{kernel_not_found}.
std::string find_connection_file(const std::string& name, const Environment& environment);

// Throws Error{kernel_not_found} for a file that cannot be read or is no connection file with a key, TCP ports or unix
// sockets.
ExistingKernel read_connection_file(const std::string& path);

} // namespace cellgate::jupyter
