#pragma once
// `compile_confined_filter` compiles the filter for a sandbox without namespaces: which system calls the guard is asked
// about (helper/confine.hpp), and what is refused there because no namespace holds it apart. It is installed in
// addition to that of system_call_rules.hpp.

#include <string>

namespace cellgate::sandbox {

// As compile_system_call_filter().
std::string compile_confined_filter();

} // namespace cellgate::sandbox
