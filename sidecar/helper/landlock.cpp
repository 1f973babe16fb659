#include "landlock.hpp"

#include "base/unique_fd.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cellgate::helper {

namespace {

// What the header of older systems lacks.
constexpr std::uint64_t access_truncate = 1ULL << 14;
constexpr std::uint64_t access_ioctl_device = 1ULL << 15;
constexpr std::uint64_t scope_abstract_sockets = 1ULL << 0;
constexpr std::uint64_t scope_signals = 1ULL << 1;

constexpr int version_of_refer = 2; // before it, no file could be moved from one folder to another
constexpr int version_of_truncate = 3;
constexpr int version_of_ioctl_device = 5;
constexpr int version_of_scopes = 6;

constexpr std::uint64_t to_read =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t to_write_a_file = LANDLOCK_ACCESS_FS_WRITE_FILE | access_truncate;
constexpr std::uint64_t to_write = to_write_a_file | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                   LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                   LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                   LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;
constexpr std::uint64_t to_use_devices = to_write_a_file | access_ioctl_device;
constexpr std::uint64_t for_nobody = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;

// As the kernel takes it since version 6; of an older one, what it does not know has to be 0.
struct RulesetAttributes {
    std::uint64_t handled_files;
    std::uint64_t handled_network;
    std::uint64_t scopes;
};

std::string failure(const std::string& what) {
    return what + ": " + std::strerror(errno);
}

// `rights`, as far as this kernel knows them.
std::uint64_t known_at(long version, std::uint64_t rights) {
    const std::uint64_t unknown = (version < version_of_truncate ? access_truncate : 0) |
                                  (version < version_of_ioctl_device ? access_ioctl_device : 0);
    return rights & ~unknown;
}

// Empty, or what went wrong. A place that is reached through a link is another one than was meant.
std::string allow(int ruleset, const std::string& place, std::uint64_t rights) {
    const UniqueFd file(::open(place.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status{};
    if (!file.valid() || ::fstat(file.get(), &status) != 0) {
        return failure("cannot open " + place);
    }
    std::string found(place.size() + 1, '\0'); // one more, so that a longer path is seen to be another
    const ssize_t size =
        ::readlink(("/proc/self/fd/" + std::to_string(file.get())).c_str(), found.data(), found.size());
    if (S_ISLNK(status.st_mode) || size < 0 || found.substr(0, static_cast<std::size_t>(size)) != place) {
        return place + " is not where it was";
    }
    const std::uint64_t of_files = (to_read | to_use_devices) & ~LANDLOCK_ACCESS_FS_READ_DIR;
    const landlock_path_beneath_attr rule{rights & (S_ISDIR(status.st_mode) ? ~0ULL : of_files), file.get()};
    const bool added = ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    return added ? "" : failure("cannot allow " + place);
}

std::uint64_t rights_of(LandlockRight right) {
    switch (right) {
    case LandlockRight::read:
        return to_read;
    case LandlockRight::write:
        return to_write;
    case LandlockRight::use_device:
        return to_use_devices;
    case LandlockRight::make_sockets:
        return LANDLOCK_ACCESS_FS_MAKE_SOCK;
    }
    return 0;
}

// Restricts this process to the grants, by what version `version` of the kernel's knows.
std::string restrict_to(const std::vector<LandlockGrant>& grants, long version, std::uint64_t handled_network) {
    const RulesetAttributes attributes{known_at(version, to_read | to_write | to_use_devices | for_nobody),
                                       handled_network,
                                       version < version_of_scopes ? 0 : scope_abstract_sockets | scope_signals};
    const UniqueFd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
    if (!ruleset.valid()) {
        return failure("cannot make a ruleset");
    }
    std::string problem;
    for (const LandlockGrant& grant : grants) {
        if (problem.empty()) {
            problem = allow(ruleset.get(), grant.place, known_at(version, rights_of(grant.right)));
        }
    }
    if (problem.empty() && ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
        problem = failure("cannot restrict this process");
    }
    return problem;
}

long kernels_version() {
    return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

std::string too_old(long version) {
    return version < 0 ? failure("the kernel has none") : "the kernel's version is too old";
}

} // namespace

std::string restrict_by_landlock(const std::string& writable) {
    const long version = kernels_version();
    if (version < version_of_refer) {
        return too_old(version);
    }
    std::vector<LandlockGrant> grants = {{"/", LandlockRight::read}, {"/dev", LandlockRight::use_device}};
    for (std::size_t at = 0; at < writable.size();) {
        const std::size_t end = writable.find('\0', at);
        if (end == std::string::npos) {
            return "the list of writable places has no end";
        }
        grants.push_back({writable.substr(at, end - at), LandlockRight::write});
        at = end + 1;
    }
    return restrict_to(grants, version, 0);
}

std::string restrict_by_landlock_alone(const std::vector<LandlockGrant>& grants) {
    const long version = kernels_version();
    constexpr std::uint64_t to_use_tcp = 0b11; // to bind and to connect
    return version < version_of_scopes ? too_old(version) : restrict_to(grants, version, to_use_tcp);
}

} // namespace cellgate::helper
