#include "session/session_limits.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using Names = std::vector<protocol::LimitName>;
using protocol::LimitName;

namespace {

protocol::Limits memory(std::uint64_t bytes) {
    protocol::Limits limits;
    limits.memory_bytes = bytes;
    return limits;
}

const sandbox::GroupLimits whole_group{1000, 4098, 2.0};

} // namespace

TEST_CASE("a change keeps the limits that it does not name") {
    protocol::Limits limits = memory(1000);
    limits.wall_seconds = 5;
    protocol::Limits change;
    change.wall_seconds = 9;
    change.open_files = 100;
    const protocol::Limits changed = session::with_changed(limits, change);
    CHECK(changed.memory_bytes == 1000U);
    CHECK(changed.wall_seconds == 9.0);
    CHECK(changed.open_files == 100);
}

TEST_CASE("less memory for all together holds at once, more than each process may have does not") {
    sandbox::Limits started;
    started.memory_bytes = 1000;
    CHECK(session::after_restart(memory(500), started, whole_group).empty());
    CHECK(session::after_restart(memory(1000), started, whole_group).empty());
    CHECK(session::after_restart(memory(1001), started, whole_group) == Names{LimitName::memory_bytes});
    CHECK(session::after_restart(memory(5000), {}, whole_group).empty());                      // no limit of each
    CHECK(session::after_restart(memory(500), started, {}) == Names{LimitName::memory_bytes}); // no group
}

TEST_CASE("what the system sets for each process at its start holds after a restart") {
    protocol::Limits change;
    change.process_count = 50;
    change.cpu_cores = 0.5;
    change.cpu_seconds = 10;
    change.open_files = 100;
    change.file_size_bytes = 1U << 20U;
    change.disk_bytes = 1U << 20U;
    change.wall_seconds = 1;
    CHECK(session::after_restart(change, {}, whole_group) ==
          Names{LimitName::cpu_seconds, LimitName::open_files, LimitName::file_size_bytes, LimitName::disk_bytes});
    change.process_count = 5000; // of a user's processes at most 4096 could be started
    CHECK(session::after_restart(change, {}, whole_group).front() == LimitName::process_count);
    CHECK(session::after_restart(change, {}, {}).size() == 6);
}
