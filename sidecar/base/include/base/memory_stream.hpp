#pragma once
// Two byte streams whose ends are joined in memory: a client and a sidecar in one process, and tests.

#include "base/byte_stream.hpp"

#include <memory>
#include <utility>

namespace cellgate {

// What is written to one is read from the other, in the pieces that were written.
std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> memory_stream_pair();

} // namespace cellgate
