#pragma once
// `marked_processes` finds processes by a mark in their environment, wherever they have moved; `shell` is a command
// line.

#include "async/process.hpp"
#include "base/byte_stream.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cellgate::async {

Task<std::string> read_all(ByteStream* stream);

// A value of the variable MARK that no other process has.
std::string new_mark();
// Living processes whose environment holds the mark.
std::vector<int> marked_processes(const std::string& mark);
// True once exactly `count` do; false after ten seconds without.
bool wait_for_marked(const std::string& mark, std::size_t count);
// True once the process has ended, reaped or not; false after ten seconds.
bool wait_for_end(int pid);

// `sh -c script` with PATH, and MARK unless it is empty.
Command shell(std::string script, const std::string& mark = {});

// Makes four processes that are hard to end: in sessions of their own, orphaned, deaf to every signal that can be
// ignored. With `sh` itself there are five.
extern const char* const escape_artists;

} // namespace cellgate::async
