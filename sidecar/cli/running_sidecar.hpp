#pragma once
// `join_running_sidecar` connects to the workspace's sidecar as a user, if one runs.

#include "async/loop.hpp"
#include "base/byte_stream.hpp"
#include "daemon/instance_paths.hpp"

#include <memory>

namespace cellgate::cli {

// nullptr, and says so, when none runs. Throws Error{internal_error} for one of another version, which a user of this
// one would end, and what daemon::no_answer() is.
Task<std::unique_ptr<ByteStream>> join_running_sidecar(async::Loop* loop, daemon::InstancePaths paths);

} // namespace cellgate::cli
