// Snapshots that list no folder, because nothing came or went in one. They need no git, so its absence tells them.

#include "base/error.hpp"
#include "workspace_fixture.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <utility>

using namespace cellgate;
using namespace cellgate::changes;

namespace {

// What the clock of files says from now on is later than what it said.
void wait_tick() {
    const auto now = [] {
        timespec time{};
        ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
        return std::pair(time.tv_sec, time.tv_nsec);
    };
    const auto begun = now();
    while (now() == begun) {
    }
}

struct Watched : WorkspaceFixture {
    Watched() {
        write(at("src/a"), "a");
        write(at("b"), "b");
        write(at("large"), std::string(2000, 'x'));
        write(at(".gitignore"), "*.tmp\n");
        write(at("x.tmp"), "x");
        write(at("build/.gitignore"), "*\n");
        write(at("build/made"), "made");
        fs::create_directories(at("bare/below"));
        wait_tick();
        before = snapshots.take();
        wait_tick();
        before = snapshots.take();
    }
    Options limited() const {
        Options options = this->options();
        options.max_file_bytes = 1000;
        return options;
    }
    // Nothing if it needs git.
    std::optional<Snapshot> take_without_git() {
        const std::string path = ::getenv("PATH");
        ::setenv("PATH", folder.path.c_str(), 1);
        std::optional<Snapshot> taken;
        try {
            taken = snapshots.take();
        } catch (const Error&) {
        }
        ::setenv("PATH", path.c_str(), 1);
        return taken;
    }

    Snapshots snapshots{limited()};
    Snapshot before;
};

} // namespace

TEST_CASE("where nothing changed, no folder is listed") {
    Watched watched;
    const std::optional<Snapshot> same = watched.take_without_git();
    REQUIRE(same);
    CHECK(same->id == watched.before.id);
    CHECK(same->not_covered_count == watched.before.not_covered_count);
    Snapshots another(watched.limited()); // what a later process reads
    CHECK(another.take().id == watched.before.id);
}

TEST_CASE("what changes the list of files is seen") {
    const std::map<std::string, std::function<void(const Watched&)>> changes = {
        {"+new", [](const Watched& w) { write(w.at("new"), "new"); }},
        {"-src/a", [](const Watched& w) { fs::remove(w.at("src/a")); }},
        {"+bare/below/new", [](const Watched& w) { write(w.at("bare/below/new"), "new"); }},
        {"-src/a +src/c", [](const Watched& w) { fs::rename(w.at("src/a"), w.at("src/c")); }},
        {"~b", [](const Watched& w) { write(w.at("b"), "other"); }},
    };
    for (const auto& [expected, change] : changes) {
        CAPTURE(expected);
        Watched watched;
        REQUIRE(watched.take_without_git()); // the control
        change(watched);
        std::string found;
        for (const Change& each : watched.snapshots.compare(watched.before.id, watched.snapshots.take().id).changes) {
            found += found.empty() ? "" : " ";
            found += (each.before ? each.after ? "~" : "-" : "+") + each.path;
        }
        CHECK(found == expected);
    }
}

TEST_CASE("what changes what is covered is seen, though no folder changed") {
    const std::map<std::string, std::function<void(const Watched&)>> changes = {
        {"x.tmp", [](const Watched& w) { write(w.at(".gitignore"), "*.log\n"); }},
        {"build/made", [](const Watched& w) { write(w.at("build/.gitignore"), "\n"); }},
        {"large", [](const Watched& w) { write(w.at("large"), "small"); }},
    };
    for (const auto& [path, change] : changes) {
        CAPTURE(path);
        Watched watched;
        CHECK_FALSE(watched.snapshots.read(watched.before.id, path, 100));
        change(watched);
        CHECK_FALSE(watched.take_without_git());
        CHECK(watched.snapshots.read(watched.snapshots.take().id, path, 100));
    }
    Watched watched;
    write(watched.at("b"), std::string(2000, 'x'));
    CHECK_FALSE(watched.snapshots.read(watched.snapshots.take().id, "b", 100));
    write(watched.at("b"), "b");
    CHECK(watched.snapshots.read(watched.snapshots.take().id, "b", 100));
}
