#include "mounts/mount_check.hpp"

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "launch/landlock.hpp"
#include "protected/create_guard.hpp"
#include "sandbox/profile.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <map>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

constexpr const char* places_file = "/.cellgate/places";
constexpr const char* writable_file = "/.cellgate/writable";

// "<device>:<inode>" of a path without links.
std::string identity_of(const std::string& path) {
    struct open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS;
    const UniqueFd file(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
    struct stat status{};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
        throw system_error(ErrorCode::sandbox_unavailable,
                           fmt::format("{} was changed while the sandbox was set up", path), errno);
    }
    return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

std::string list_of(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) {
        list += text + '\0';
    }
    return list;
}

} // namespace

void check_mounts(MountPlan& plan, const std::vector<std::string>& writable_roots, const FromTheStart& start,
                  std::vector<std::string>& argv) {
    std::map<std::string, std::string> sources; // a root may be inside another one
    for (const std::string& top : writable_roots) {
        for (MountPlan::Bind& bind : plan.binds_within(top)) {
            sources[std::move(bind.place)] = std::move(bind.source);
        }
    }
    std::string places;
    for (const auto& [place, source] : sources) {
        places += place + '\0' + identity_of(source) + '\0';
    }
    plan.file(std::move(places), places_file);
    std::vector<std::string> helper = {fmt::format("lifeline={}", start.lifeline_fd), "places"};
    if (start.protected_names) {
        add_guard_filter(plan);
        add_protected_names(plan, writable_roots);
        helper.emplace_back("guard");
    }
    if (start.landlock && has_landlock()) {
        plan.file(list_of(plan.writable_places()), writable_file);
        helper.emplace_back("landlock");
    }
    argv.insert(argv.begin(), helper.begin(), helper.end());
}

void add_command_arguments(const CommandStart& start, std::vector<std::string>& argv) {
    std::vector<std::string> helper;
    if (!start.proxy.empty()) {
        helper.push_back(fmt::format("bridge={}:{}", proxy_port, start.proxy));
        helper.insert(helper.end(), start.relays.begin(), start.relays.end());
    }
    if (!start.kernel_sockets.empty()) {
        helper.push_back(fmt::format("kernel={}:{}", first_kernel_port, start.kernel_sockets));
    }
    helper.insert(helper.end(), start.limits.begin(), start.limits.end());
    helper.emplace_back("--");
    argv.insert(argv.begin(), helper.begin(), helper.end());
}

} // namespace cellgate::sandbox
