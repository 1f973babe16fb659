#pragma once
// `compile_guard_filter` compiles the filter that asks the guard (helper/guard.hpp) about each system call that can
// give a name to a file, and about those that take the address of a socket.

#include <string>

namespace cellgate::sandbox {

// As compile_system_call_filter().
std::string compile_guard_filter();

} // namespace cellgate::sandbox
