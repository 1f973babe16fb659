#include "launch/landlock.hpp"

#include <algorithm>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cellgate::sandbox {

int landlock_version() {
    const long found = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return static_cast<int>(std::max(0L, found));
}

} // namespace cellgate::sandbox
