#include "process_facts.hpp"

#include "descriptor.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <string_view>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace cellgate::helper {

std::optional<std::string> read_file(const char* path) {
    const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
    std::string text;
    ssize_t size = file.get() < 0 ? -1 : 1;
    while (size > 0) {
        char part[4096];
        size = ::read(file.get(), part, sizeof part);
        text.append(part, size > 0 ? static_cast<std::size_t>(size) : 0);
    }
    return size < 0 ? std::nullopt : std::optional(std::move(text));
}

namespace {

// The fields of /proc/PID/stat after the name; empty when the process has ended.
std::string stat_fields(pid_t pid) {
    const std::string text = read_file(("/proc/" + std::to_string(pid) + "/stat").c_str()).value_or("");
    return text.substr(std::min(text.rfind(')'), text.size() - 1) + 1); // the name may hold anything
}

} // namespace

rlim_t used_cpu_seconds(pid_t pid) {
    rlim_t user = 0;
    rlim_t system = 0;
    if (std::sscanf(stat_fields(pid).c_str(), " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) !=
        2) {
        return 0;
    }
    return (user + system) / static_cast<rlim_t>(::sysconf(_SC_CLK_TCK));
}

std::optional<dev_t> terminal_of(pid_t pid) {
    int number = 0; // 12 bits of the major one between 8 and 12 of the minor one
    if (std::sscanf(stat_fields(pid).c_str(), " %*c %*d %*d %*d %d", &number) != 1 || number == 0) {
        return std::nullopt;
    }
    const auto bits = static_cast<unsigned>(number);
    return makedev(bits >> 8 & 0xfff, (bits & 0xff) | (bits >> 12 & 0xfff00));
}

std::optional<unsigned long> status_number(pid_t thread, const char* name, int base) {
    const std::string text = read_file(("/proc/" + std::to_string(thread) + "/status").c_str()).value_or("");
    const std::string line = std::string("\n") + name + ":\t"; // no value holds a line's end, also no program's name
    const std::size_t found = text.find(line);
    unsigned long number = 0;
    const char* digits = text.data() + found + line.size();
    if (found == std::string::npos ||
        std::from_chars(digits, text.data() + text.size(), number, base).ec != std::errc()) {
        return std::nullopt;
    }
    return number;
}

} // namespace cellgate::helper
