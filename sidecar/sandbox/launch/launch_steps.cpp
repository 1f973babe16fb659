#include "launch/launch_steps.hpp"

#include "async/helper_program.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "mounts/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

constexpr std::array passed_variables = {"LANG", "LANGUAGE", "TZ", "TERM"};

// A value with a NUL would be read by bwrap as further options.
void refuse_nul(std::string_view text, std::string_view what) {
    if (text.find('\0') != std::string_view::npos) {
        throw Error(ErrorCode::config_invalid, fmt::format("{} holds a NUL byte", what), "Remove it.");
    }
}

} // namespace

Environment clean_environment(const Environment& own, const std::string& home, Environment added) {
    const char* user = ::getuid() == 0 ? "root" : "user";
    Environment result = {{"PATH", system_path}, {"HOME", home},      {"USER", user},         {"LOGNAME", user},
                          {"SHELL", "/bin/sh"},  {"LANG", "C.UTF-8"}, {"CELLGATE_HOME", home}};
    for (const auto& [name, value] : own) {
        if (name.starts_with("LC_") ||
            std::find(passed_variables.begin(), passed_variables.end(), name) != passed_variables.end()) {
            result[name] = value;
        }
    }
    for (auto& [name, value] : added) {
        if (name.empty() || name.find('=') != std::string::npos) {
            throw Error(ErrorCode::config_invalid, fmt::format("'{}' is not a name of an environment variable", name),
                        "Use a name that is not empty and has no '='.");
        }
        refuse_nul(name, "the name of an environment variable");
        refuse_nul(value, fmt::format("the environment variable {}", name));
        result[name] = std::move(value);
    }
    return result;
}

void check_program(const MountPlan& plan, const std::string& program, Links& links) {
    if (program.empty() || program[0] != '/') {
        return;
    }
    std::string resolved = canonical_path(program, "the program", links);
    if (!plan.shows(resolved)) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("the program '{}' is '{}', which cannot be seen in the sandbox", program, resolved),
                    "Choose a program of the system or of the workspace, or an interpreter whose prefix is known.");
    }
}

std::string working_directory(const MountPlan& plan, const std::string& cwd, Links& links) {
    std::string path = canonical_path(cwd, "the working directory", links);
    if (!plan.shows(path)) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("the working directory '{}' cannot be seen in the sandbox", path),
                    "Choose one in the workspace.");
    }
    return path;
}

int first_free_descriptor(const async::Command& command) {
    const int last = command.descriptors.empty() ? 2 : command.descriptors.rbegin()->first;
    return std::max(last, command.lifeline_fd.value_or(2)) + 1;
}

UniqueFd open_helper() {
    return open_to_read(fmt::format("/proc/self/fd/{}", async::helper_program()));
}

std::vector<std::string> ResourceLimits::arguments() const {
    std::vector<std::string> all = limit_arguments(of_each);
    if (counts_root && ::geteuid() == 0) {
        all.push_back(fmt::format("processes={}", of_each.process_count.value_or(default_process_count)));
    }
    return all;
}

std::vector<std::string> ResourceLimits::layers() const {
    std::vector<std::string> all = limit_layers(of_each);
    if (counts_root && ::geteuid() == 0) {
        all.emplace_back("process-limit");
    }
    return all;
}

ResourceLimits apply_limits(const Limits& limits) {
    std::string problem;
    ResourceLimits hold;
    hold.group = ControlGroup::make(find_group_places(), group_limits(limits), problem);
    require_enforceable(limits, hold.group.get(), problem);
    hold.of_each = limits_of_each(limits, hold.group.get());
    return hold;
}

ResourceLimits apply_limits_of_runtime(const Limits& limits) {
    GroupLimits of_group = group_limits(limits);
    of_group.process_count.reset();
    Limits others = limits;
    others.process_count.reset();
    std::string problem;
    ResourceLimits hold;
    hold.group = ControlGroup::make(find_group_places(), of_group, problem);
    require_enforceable(others, hold.group.get(), problem);
    if (limits.memory_bytes && !(hold.group && hold.group->holds().memory_bytes)) {
        throw Error(ErrorCode::sandbox_unavailable,
                    fmt::format("a limit of memory was asked for, and gVisor's is counted by a control group only: {}",
                                problem),
                    "See `cellgate doctor`, or leave out limits.memoryBytes.");
    }
    hold.of_each = limits;
    hold.of_each.memory_bytes.reset();
    hold.of_each.process_count = limits.process_count.value_or(default_process_count);
    hold.counts_root = true;
    return hold;
}

void add_hold(Launch& launch, ResourceLimits hold) {
    launch.group = std::move(hold.group);
    if (launch.group) {
        launch.command.groups = launch.group->folders();
        const std::vector<std::string> layers = launch.group->layers();
        launch.layers.insert(launch.layers.end(), layers.begin(), layers.end());
    }
    const std::vector<std::string> layers = hold.layers();
    launch.layers.insert(launch.layers.end(), layers.begin(), layers.end());
}

async::ExitStatus exit_of_helper(async::ExitStatus outer) {
    constexpr int signals = 128;
    if (outer.signal == 0 && outer.code > signals && outer.code <= signals + 64) {
        return async::ExitStatus{.code = 0, .signal = outer.code - signals};
    }
    return outer;
}

} // namespace cellgate::sandbox
