#include "sandbox/group_usage.hpp"

#include <fstream>

namespace cellgate::sandbox {

namespace {

constexpr double microsecond = 1e-6;
constexpr double nanosecond = 1e-9;

std::optional<std::uint64_t> number_in(const std::string& path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

// The line "usage_usec 1234" of version 2.
std::optional<std::uint64_t> usage_in(const std::string& path) {
    std::ifstream file(path);
    std::string name;
    std::uint64_t number = 0;
    while (file >> name >> number) {
        if (name == "usage_usec") {
            return number;
        }
    }
    return std::nullopt;
}

} // namespace

GroupUsage read_group_usage(const std::vector<std::string>& folders) {
    GroupUsage usage;
    for (const std::string& folder : folders) {
        for (const char* name : {"/memory.current", "/memory.usage_in_bytes"}) {
            if (const std::optional<std::uint64_t> bytes = number_in(folder + name)) {
                usage.memory_bytes = bytes;
            }
        }
        if (const std::optional<std::uint64_t> used = usage_in(folder + "/cpu.stat")) {
            usage.processor_seconds = static_cast<double>(*used) * microsecond;
        }
        if (const std::optional<std::uint64_t> used = number_in(folder + "/cpuacct.usage")) {
            usage.processor_seconds = static_cast<double>(*used) * nanosecond;
        }
    }
    return usage;
}

} // namespace cellgate::sandbox
