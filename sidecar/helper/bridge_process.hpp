#pragma once
// `start_bridge_process` starts the process of a bridge, and `carry_all` is what such a process does. It is a child of
// the sandbox's first process: it is none of what the caller becomes, the sandbox's command.

#include "carried_connection.hpp"

#include <cstddef>
#include <functional>
#include <list>
#include <sys/un.h>
#include <vector>

namespace cellgate::helper {

// The new process has no descriptors but `keep`, and /dev/null as its stdio; `run` is called there and does not return.
// False, with errno, when there is none.
bool start_bridge_process(const std::vector<int>& keep, const std::function<void()>& run);

using Connections = std::list<CarriedConnection>;

// Carries what comes, for ever, and calls `accept_one` with the index of a listener at which a client waits.
[[noreturn]] void carry_all(const std::vector<int>& listeners,
                            const std::function<void(std::size_t, Connections&)>& accept_one);

// False, with errno, when the path is too long for an address.
bool set_unix_address(sockaddr_un& address, const char* path);

} // namespace cellgate::helper
