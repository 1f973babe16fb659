// Where groups can be made, as the system's files tell it; and, on a machine where some can, that they hold what they
// say and are gone afterwards. Where none can be made, the tests of the second kind say so.

#include "machine.hpp"
#include "sandbox/control_group.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

constexpr const char* version_two = "35 25 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* version_one = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
                                    "40 31 0:37 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
                                    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

// A picture of a system's /proc and /sys.
struct System {
    System(const std::string& mounts, const std::string& memberships) {
        machine.write(machine.root / "proc/self/mountinfo", "23 1 0:21 / /proc rw,relatime - proc proc rw\n" + mounts);
        machine.write(machine.root / "proc/self/cgroup", memberships);
    }
    // A group of version 2, with these controllers and processes.
    void add(const std::string& folder, const std::string& controllers, const std::string& processes = "") const {
        machine.write(at(folder) / "cgroup.controllers", controllers + "\n");
        machine.write(at(folder) / "cgroup.procs", processes);
        machine.write(at(folder) / "cgroup.subtree_control", "\n");
    }
    fs::path at(const std::string& folder) const { return machine.root / folder.substr(1); }
    GroupPlaces find() const { return find_group_places(machine.root); }

    Machine machine;
};

bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> left_in(const fs::path& folder) {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.path().filename().string().starts_with("cellgate-")) {
            found.push_back(entry.path().filename());
        }
    }
    return found;
}

// Below those of the system, where no sidecar that runs beside this test makes or clears away groups.
class OwnPlaces {
  public:
    explicit OwnPlaces(GroupPlaces places) : places_(std::move(places)) {
        for (GroupPlace* place : {&*places_.memory, &*places_.processes}) {
            place->folder += "/own-" + std::to_string(::getpid());
            fs::create_directory(place->folder);
        }
    }
    OwnPlaces(const OwnPlaces&) = delete;
    OwnPlaces& operator=(const OwnPlaces&) = delete;
    ~OwnPlaces() {
        for (const GroupPlace* place : {&*places_.memory, &*places_.processes}) {
            ::rmdir(place->folder.c_str());
        }
    }

    const GroupPlaces* operator->() const { return &places_; }
    const GroupPlaces& operator*() const { return places_; }

  private:
    GroupPlaces places_;
};

std::unique_ptr<ControlGroup> make(const GroupPlaces& places, const GroupLimits& limits) {
    std::string problem;
    return ControlGroup::make(places, limits, problem);
}

constexpr GroupLimits plenty{std::uint64_t{1} << 30, 1000};

} // namespace

TEST_CASE("of version 1 the places are our own groups, each in its hierarchy") {
    const System system(version_one, "8:pids:/\n4:memory:/box/7\n0::/\n");
    fs::create_directories(system.at("/sys/fs/cgroup/memory/box/7"));
    fs::create_directories(system.at("/sys/fs/cgroup/pids"));
    const GroupPlaces places = system.find();
    REQUIRE(places.memory);
    REQUIRE(places.processes);
    CHECK(places.memory->version == GroupVersion::one);
    CHECK(places.memory->folder == system.at("/sys/fs/cgroup/memory/box/7"));
    CHECK(places.processes->folder == system.at("/sys/fs/cgroup/pids"));
    CHECK(places.problem.empty());
}

TEST_CASE("of version 2 the place is our own group, when it was given to us") {
    const System system(version_two, "0::/user.slice/run-1.scope\n");
    system.add("/sys/fs/cgroup/user.slice/run-1.scope", "cpu io memory pids", std::to_string(::getpid()) + "\n");
    const GroupPlaces places = system.find();
    REQUIRE_MESSAGE(places.memory, places.problem);
    CHECK(places.memory->version == GroupVersion::two);
    CHECK(places.memory->folder == system.at("/sys/fs/cgroup/user.slice/run-1.scope"));
    CHECK(places.processes->folder == places.memory->folder);
}

TEST_CASE("a sidecar that moved below its group makes groups where it was") {
    const System system(version_two, "0::/run-1.scope/cellgate.own\n");
    system.add("/sys/fs/cgroup/run-1.scope", "memory pids");
    system.add("/sys/fs/cgroup/run-1.scope/cellgate.own", "memory pids");
    REQUIRE(system.find().memory);
    CHECK(system.find().memory->folder == system.at("/sys/fs/cgroup/run-1.scope"));
}

TEST_CASE("a mount that shows a part of the hierarchy is understood") {
    const System system("35 25 0:30 /docker/4 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/docker/4/in\n");
    system.add("/sys/fs/cgroup/in", "memory pids");
    REQUIRE(system.find().memory);
    CHECK(system.find().memory->folder == system.at("/sys/fs/cgroup/in"));
}

TEST_CASE("where no group is available, the reason is said, and what would help") {
    const auto problem_of = [](const System& system) {
        const GroupPlaces places = system.find();
        CHECK_FALSE(places.memory);
        CHECK(mentions(places.hint, "Delegate=yes"));
        return places.problem;
    };
    System without_controllers(version_two, "0::/app\n");
    without_controllers.add("/sys/fs/cgroup/app", "cpu pids");
    CHECK(mentions(problem_of(without_controllers), "no controller for memory"));

    System with_others(version_two, "0::/app\n");
    with_others.add("/sys/fs/cgroup/app", "memory pids", "1\n");
    CHECK(mentions(problem_of(with_others), "other programs run in our control group"));

    CHECK(mentions(problem_of(System(version_two, "0::/../app\n")), "not shown"));
    CHECK(mentions(problem_of(System("", "0::/app\n")), "no control groups that we can see"));
}

TEST_CASE("a group that is not ours to write is none" * doctest::skip(::geteuid() == 0)) { // root may write all
    System of_two(version_two, "0::/app\n");
    of_two.add("/sys/fs/cgroup/app", "memory pids");
    REQUIRE(of_two.find().memory);
    fs::permissions(of_two.at("/sys/fs/cgroup/app/cgroup.subtree_control"), fs::perms::owner_read);
    CHECK(mentions(of_two.find().problem, "not given to us"));

    System of_one(version_one, "8:pids:/\n4:memory:/\n0::/\n");
    for (const char* name : {"memory", "pids"}) {
        fs::create_directories(of_one.at("/sys/fs/cgroup") / name);
        fs::permissions(of_one.at("/sys/fs/cgroup") / name, fs::perms::owner_read | fs::perms::owner_exec);
    }
    CHECK_FALSE(of_one.find().memory);
    CHECK(mentions(of_one.find().problem, "cannot be written: Permission denied"));
    CHECK(mentions(of_one.find().hint, "root's"));
}

TEST_CASE("a group whose limit cannot be set is not used, and not left") {
    System system(version_two, "0::/app\n");
    system.add("/sys/fs/cgroup/app", "memory pids");
    system.machine.write(system.at("/sys/fs/cgroup/app/cgroup.subtree_control"), "memory pids\n");
    std::string problem;
    CHECK(ControlGroup::make(system.find(), plenty, problem) == nullptr); // its folder has no memory.max
    CHECK(mentions(problem, "memory.max"));
    CHECK(left_in(system.at("/sys/fs/cgroup/app")).empty());
}

TEST_CASE("a group has its limits, counts what it is asked for, and is removed by its owner") {
    const GroupPlaces places = find_group_places();
    if (!places.memory || !places.processes) {
        MESSAGE("no control groups here: " << places.problem);
        return;
    }
    std::unique_ptr<ControlGroup> group = make(places, plenty);
    REQUIRE(group);
    CHECK(group->layers() == std::vector<std::string>{"memory-cgroup", "process-cgroup"});
    CHECK(group->memory_kills() == 0);
    CHECK_FALSE(group->memory_limit_was_met());
    const Machine machine;
    const std::vector<std::string> folders = group->folders();
    const bool one = places.memory->version == GroupVersion::one;
    CHECK(machine.read(fs::path(folders.front()) / (one ? "memory.limit_in_bytes" : "memory.max")) == "1073741824\n");
    CHECK(machine.read(fs::path(folders.back()) / "pids.max") == "1000\n");
    group.reset();
    for (const std::string& folder : folders) {
        CHECK_FALSE(fs::exists(folder));
    }
}

TEST_CASE("what a crash left is cleared away with the next group, and what is in use is not") {
    const GroupPlaces found = find_group_places();
    if (!found.memory || !found.processes) {
        MESSAGE("no control groups here: " << found.problem);
        return;
    }
    const OwnPlaces places(found);
    const std::unique_ptr<ControlGroup> in_use = make(*places, plenty);
    REQUIRE(in_use);
    const std::vector<std::string> before = left_in(places->processes->folder);
    CHECK(before.size() == 1);
    // As of one whose janitor was killed as well.
    for (const GroupPlace* place : {&*places->memory, &*places->processes}) {
        fs::create_directory(place->folder + "/cellgate-00112233445566778899aabbccddeeff");
    }
    CHECK(left_in(places->processes->folder).size() == 2);
    std::unique_ptr<ControlGroup> next = make(*places, plenty);
    next.reset();
    CHECK(left_in(places->processes->folder) == before);
    CHECK(fs::exists(in_use->folders().front()));
}
