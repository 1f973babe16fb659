#pragma once
// `read_settings_files` reads the files that the sidecar takes its settings from, as it does, and says what is wrong.

#include "base/environment.hpp"
#include "sandbox/doctor.hpp"

#include <string>
#include <vector>

namespace cellgate::service {

// A finding for each file in this directory, whether or not it is there; its subject is the path. May block.
std::vector<sandbox::Finding> read_settings_files(const std::string& directory, const Environment& environment);

} // namespace cellgate::service
