#include "agent_limits.hpp"

#include "config_file.hpp"
#include "sandbox/home.hpp"
#include "sandbox/limits.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <thread>

namespace cellgate::service {

namespace {

constexpr std::uint64_t max_memory_bytes = std::uint64_t{8} << 30;
constexpr double max_seconds = 365.0 * 24 * 3600;
constexpr std::string_view how_to_get_more = "ask for less, or leave it out; a user can allow agents more in "
                                             "agents.json (docs/limits.md), or run it in a session of theirs";

constexpr const char* may_hold =
    "It may hold timeoutSeconds, memoryBytes, cpuSeconds and executions, each a number, sandboxConfig, the path of "
    "sandbox "
    "settings, and agents, with the same but executions for each agent by its name; or remove the file.";

// What an agent has of its own.
struct Section {
    static constexpr bool closed = true;
    std::optional<double> timeout_seconds;
    std::optional<std::int64_t> memory_bytes;
    std::optional<std::int64_t> cpu_seconds;
    std::optional<std::string> sandbox_config;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("timeoutSeconds", self.timeout_seconds);
        visit("memoryBytes", self.memory_bytes);
        visit("cpuSeconds", self.cpu_seconds);
        visit("sandboxConfig", self.sandbox_config);
    }
};

struct File : Section {
    std::optional<std::int64_t> executions;
    std::optional<std::map<std::string, Section>> agents;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        Section::fields(self, visit);
        visit("executions", self.executions);
        visit("agents", self.agents);
    }
};

template <class Number>
Number at_most(const char* name, std::optional<Number> asked, Number most) {
    if (asked && *asked > most) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("params.{}: expected at most {} of an agent, found {}", name, most, *asked),
                    std::string(how_to_get_more));
    }
    return asked.value_or(most);
}

Error invalid(const std::string& path, const std::string& why) {
    return Error(ErrorCode::config_invalid, fmt::format("{}: {}", path, why), may_hold);
}

std::uint64_t whole(const std::string& path, const char* name, std::int64_t number) {
    if (number < 1 || static_cast<double>(number) > 1e15) {
        throw invalid(path, fmt::format("{}: expected 1 to 10^15, found {}", name, number));
    }
    return static_cast<std::uint64_t>(number);
}

// `place`: for errors.
void set_limits(AgentLimits& limits, const Section& asked, const std::string& place, const Environment& environment) {
    if (asked.timeout_seconds) {
        if (!(*asked.timeout_seconds > 0 && *asked.timeout_seconds <= max_seconds)) {
            throw invalid(place, "timeoutSeconds: expected more than 0, and at most a year");
        }
        limits.timeout_seconds = *asked.timeout_seconds;
    }
    if (asked.memory_bytes) {
        limits.memory_bytes = whole(place, "memoryBytes", *asked.memory_bytes);
    }
    if (asked.cpu_seconds) {
        limits.cpu_seconds = whole(place, "cpuSeconds", *asked.cpu_seconds);
    }
    if (asked.sandbox_config) {
        const std::string file = sandbox::without_tilde(*asked.sandbox_config, environment);
        if (!file.starts_with('/')) {
            throw invalid(place, "sandboxConfig: expected a path that begins with / or ~/");
        }
        try {
            limits.sandbox_settings = sandbox::read_settings(file);
        } catch (const Error& error) {
            throw Error(error.code, fmt::format("{}: {}", place, error.message), error.hint);
        }
    }
}

} // namespace

AgentLimits::AgentLimits() : memory_bytes(std::min(max_memory_bytes, sandbox::default_memory_bytes())) {}

protocol::Limits AgentLimits::limits_of(protocol::Limits asked) const {
    asked.memory_bytes = at_most("limits.memoryBytes", asked.memory_bytes, memory_bytes);
    asked.cpu_seconds = at_most("limits.cpuSeconds", asked.cpu_seconds, static_cast<double>(cpu_seconds));
    if (asked.process_count) {
        at_most("limits.processCount", asked.process_count, static_cast<std::int64_t>(sandbox::default_process_count));
    }
    asked.wall_seconds = timeout_of("limits.wallSeconds", asked.wall_seconds, std::nullopt);
    return asked;
}

void require_lower(const protocol::Limits& change, const protocol::Limits& present) {
    const auto require = [](const char* name, const auto& asked, const auto& most) {
        if (asked && most) {
            at_most(name, asked, *most);
        }
    };
    require("limits.memoryBytes", change.memory_bytes, present.memory_bytes);
    require("limits.processCount", change.process_count, present.process_count);
    require("limits.cpuCores", change.cpu_cores, present.cpu_cores);
    require("limits.cpuSeconds", change.cpu_seconds, present.cpu_seconds);
    require("limits.openFiles", change.open_files, present.open_files);
    require("limits.fileSizeBytes", change.file_size_bytes, present.file_size_bytes);
    require("limits.diskBytes", change.disk_bytes, present.disk_bytes);
    require("limits.wallSeconds", change.wall_seconds, present.wall_seconds);
}

double AgentLimits::timeout_of(const char* name, std::optional<double> asked, std::optional<double> of_session) const {
    return at_most(name, asked, std::max(timeout_seconds, of_session.value_or(0)));
}

AgentSettings::AgentSettings() : executions(std::max<std::size_t>(2, std::thread::hardware_concurrency() / 2)) {}

const AgentLimits& AgentSettings::limits_of(const std::optional<std::string>& agent) const {
    const auto own = agent ? named.find(*agent) : named.end();
    return own == named.end() ? limits : own->second;
}

AgentSettings read_agent_settings(const std::string& path, const Environment& environment) {
    AgentSettings settings;
    const File file = read_config_file<File>(path, may_hold).value_or(File());
    if (file.executions) {
        settings.executions = whole(path, "executions", *file.executions);
    }
    set_limits(settings.limits, file, path, environment);
    for (const auto& [name, section] : file.agents.value_or(std::map<std::string, Section>())) {
        AgentLimits own = settings.limits;
        set_limits(own, section, fmt::format("{}: agents.{}", path, name), environment);
        settings.named.emplace(name, std::move(own));
    }
    return settings;
}

} // namespace cellgate::service
