#include "launch/confinement.hpp"

#include "base/files.hpp"
#include "filters/system_call_filters.hpp"
#include "filters/system_calls.hpp"
#include "launch/launch_steps.hpp"
#include "protected/create_guard.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>
#include <sys/stat.h>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

// Terminals are told apart by the guard: a cell gets its own.
constexpr std::array devices = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                "/dev/urandom", "/dev/tty",  "/dev/ptmx", "/dev/pts"};

// As helper/file_rules.hpp names them.
constexpr char nothing = 'n';
constexpr char read = 'r';
constexpr char write = 'w';
constexpr char device = 'd';

char right_of(const Mount& mount) {
    if (!mount.shows_machine()) {
        return nothing;
    }
    struct stat status{};
    if (::stat(mount.place.c_str(), &status) == 0 && S_ISCHR(status.st_mode)) {
        return device;
    }
    return mount.writable ? write : read;
}

// What is not there needs no rule, and cannot have one.
void add(std::map<std::string, char>& rules, const std::string& path, char right) {
    std::error_code error;
    const std::string real = fs::canonical(path, error).string();
    if (error) {
        return;
    }
    // When two paths resolve to the same file, the stricter rule counts.
    const auto [rule, is_new] = rules.emplace(real, right);
    if (!is_new && right == nothing) {
        rule->second = nothing;
    }
}

std::string rules_of(const MountPlan& plan) {
    std::map<std::string, char> rules;
    for (const auto& [place, mount] : plan.mounts()) {
        if (mount.shows_machine() || mount.is_hidden()) {
            add(rules, mount.place, right_of(mount));
        }
    }
    for (const char* path : devices) {
        add(rules, path, device);
    }
    std::string text;
    for (const auto& [path, right] : rules) {
        text += right + path + '\0';
    }
    return text;
}

} // namespace

Confinement confine(const MountPlan& plan, const std::vector<std::string>& writable_roots,
                    const std::vector<std::string>& own, const std::vector<std::string>& limits, int first_descriptor) {
    Confinement made;
    made.files.push_back(open_helper());
    made.files.push_back(system_call_filter(Network::none));
    made.files.push_back(anonymous_file(confined_filter));
    made.files.push_back(anonymous_file(rules_of(plan)));
    made.files.push_back(anonymous_file(list_protected_names(plan, {{}, writable_roots, own})));
    made.arguments = {fmt::format("/proc/self/fd/{}", first_descriptor), "confine"};
    for (std::size_t i = 0; i < made.files.size(); ++i) {
        made.arguments.push_back(std::to_string(first_descriptor + static_cast<int>(i)));
    }
    made.arguments.insert(made.arguments.end(), limits.begin(), limits.end());
    made.arguments.emplace_back("--");
    return made;
}

} // namespace cellgate::sandbox
