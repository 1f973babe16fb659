#pragma once
// `take_stdio` is the stream of a program that speaks a protocol on stdin and stdout.

#include "async/loop.hpp"
#include "base/byte_stream.hpp"

#include <memory>

namespace cellgate::daemon {

// From here on stdout is stderr: whatever prints by mistake must not end up between messages. Call it once.
std::unique_ptr<ByteStream> take_stdio(async::Loop& loop);

} // namespace cellgate::daemon
