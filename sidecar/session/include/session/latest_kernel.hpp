#pragma once
// `LatestKernel` is what a session reports about its latest kernel, also while that one starts and after its start
// failed.

#include "packages/python.hpp"
#include "protocol/messages/sessions.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

struct LatestKernel {
    protocol::SessionKernel kernel;
    std::optional<packages::Python> python; // nothing if it does not run Python
    std::vector<std::string> layers;        // of its sandbox
    std::vector<std::string> notices;       // of its sandbox, escaped
    std::int64_t execution_count = 0;
};

} // namespace cellgate::session
