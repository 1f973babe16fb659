#pragma once
// `read_file` and `used_cpu_seconds`, `terminal_of`, `status_number` read facts about a process from /proc.

#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>

namespace cellgate::helper {

// All of a file, such as one of /proc, whose size is not known before. Nothing, with errno, when it cannot be read.
std::optional<std::string> read_file(const char* path);

// Of one process with all its threads, also when it has ended and is not reaped yet. 0 when /proc does not show it.
rlim_t used_cpu_seconds(pid_t pid);

// The device of the terminal that a process is controlled by. Nothing when there is none.
std::optional<dev_t> terminal_of(pid_t pid);

// Of a thread, by a line of its status: "Umask" is in octal digits. Nothing when it has ended.
std::optional<unsigned long> status_number(pid_t thread, const char* name, int base);

} // namespace cellgate::helper
