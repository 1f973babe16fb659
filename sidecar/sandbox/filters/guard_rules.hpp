#pragma once
// The rules of the filter that asks the guard (helper/guard.hpp) about each system call that can give a name to a file.

#include <string>

namespace cellgate::sandbox {

// As compile_system_call_filter().
std::string compile_guard_filter();

} // namespace cellgate::sandbox
