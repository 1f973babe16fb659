#pragma once
// `exec_command` is the last step of an entrance to a sandbox: it sets the limits of processes, and becomes the
// command.

#include <optional>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace cellgate::helper {

struct Limit {
    const char* text = nullptr; // "memory=1073741824"
    decltype(RLIMIT_CORE) resource = RLIMIT_CORE;
    rlimit value{};
};

// From argv[next] on, as long as there are limits; `next` is then what follows.
std::vector<Limit> take_limits(int argc, char** argv, int& next);
std::optional<rlim_t> cpu_seconds(const std::vector<Limit>& limits);

// Says why, and ends this process.
[[noreturn]] void die(const char* what, const char* of = "");
std::string must_read(const char* file);

// In the command's process, once it is guarded. Never a core dump.
[[noreturn]] void exec_command(const std::vector<Limit>& limits, char** command);

} // namespace cellgate::helper
