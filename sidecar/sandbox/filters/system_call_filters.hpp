#pragma once
// `guard_filter` and the others are the compiled filters of system calls: the build writes them
// (filters/make_filters.cpp).

#include <string_view>

namespace cellgate::sandbox {

extern const std::string_view without_network_filter;
extern const std::string_view with_network_filter;
extern const std::string_view runtime_filter;
extern const std::string_view guard_filter;
extern const std::string_view confined_filter;

} // namespace cellgate::sandbox
