#pragma once
// `until_interrupted` ends what goes on until Ctrl-C. `is_output_closed` is the other end of it: nothing reads what is
// printed any more.

#include "async/loop.hpp"

namespace cellgate::cli {

// Awaits `body`, which SIGINT and SIGTERM cancel: then it returns too.
Task<void> until_interrupted(async::Loop* loop, Task<void> body);

// stdout is a pipe whose other end was closed.
bool is_output_closed();

} // namespace cellgate::cli
