#pragma once
// `config_findings` reads each file of cellgate's configuration as the sidecar does, and says what is wrong.

#include "base/environment.hpp"
#include "config_file.hpp"
#include "sandbox/doctor.hpp"

#include <vector>

namespace cellgate::cli {

// A finding for each file, whether or not it is there; its subject is the path. `options`: of config.toml, at `path`.
std::vector<sandbox::Finding> config_findings(const std::string& path, const ConfigFileContent& options,
                                              const Environment& environment);

} // namespace cellgate::cli
