#pragma once
// `memory_stream_pair` makes two byte streams joined in memory: for a client and a sidecar in one process, and for
// tests.

#include "base/byte_stream.hpp"

#include <memory>
#include <utility>

namespace cellgate {

// Bytes written to one are read from the other, in the same pieces.
std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> memory_stream_pair();

} // namespace cellgate
