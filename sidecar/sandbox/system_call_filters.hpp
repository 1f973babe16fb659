#pragma once
// The compiled filters of system calls: written by the build (filters/make_filters.cpp).

#include <string_view>

namespace cellgate::sandbox {

extern const std::string_view without_network_filter;
extern const std::string_view with_network_filter;
extern const std::string_view guard_filter;
extern const std::string_view confined_filter;

} // namespace cellgate::sandbox
