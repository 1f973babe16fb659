#include "sandbox/limits.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace cellgate::sandbox {

std::vector<std::string> limit_arguments(const Limits& limits) {
    std::vector<std::string> arguments;
    const auto add = [&arguments](const char* name, const std::optional<std::uint64_t>& value) {
        if (value) {
            arguments.push_back(fmt::format("{}={}", name, *value));
        }
    };
    add("memory", limits.memory_bytes);
    add("processes", limits.process_count);
    add("cpu", limits.cpu_seconds);
    return arguments;
}

std::vector<std::string> limit_layers(const Limits& limits) {
    std::vector<std::string> layers;
    if (limits.memory_bytes) {
        layers.emplace_back("memory-limit");
    }
    if (limits.process_count) {
        layers.emplace_back("process-limit");
    }
    if (limits.cpu_seconds) {
        layers.emplace_back("cpu-limit");
    }
    return layers;
}

void require_enforceable(const Limits& limits) {
    if (limits.process_count && ::geteuid() == 0) {
        throw Error(ErrorCode::sandbox_unavailable,
                    "a limit of processes was asked for, and the system does not count those of root",
                    "Run cellgate as an ordinary user, or leave out limits.processCount.");
    }
}

} // namespace cellgate::sandbox
