#include "workspace_fixture.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::changes;

namespace {

// A repository with all that makes git run `touch` of a mark: filters, hooks, a file system monitor.
void make_hostile(const fs::path& folder, const fs::path& mark) {
    fs::create_directories(folder);
    run(folder, "git init && git config user.name x && git config user.email x@y");
    const std::string touch = "touch '" + mark.string() + "'";
    write(folder / ".git/hooks/post-index-change", "#!/bin/sh\n" + touch + ".hook\n");
    write(folder / ".git/hooks/fsmonitor", "#!/bin/sh\n" + touch + ".fsmonitor\n");
    for (const char* hook : {"post-index-change", "fsmonitor"}) {
        fs::permissions(folder / ".git/hooks" / hook, fs::perms(0755));
    }
    run(folder, "git config filter.x.clean \"" + touch + ".filter; cat\"");
    run(folder, "git config core.fsmonitor .git/hooks/fsmonitor");
    write(folder / ".gitattributes", "* filter=x\n");
    write(folder / "a", "content\r\n");
}

bool remove_mark(const fs::path& mark, const char* what) {
    return fs::remove(mark.string() + "." + what);
}

} // namespace

TEST_CASE("nothing of a workspace's repository is run") {
    WorkspaceFixture fixture;
    const fs::path mark = fixture.folder.path / "mark";
    make_hostile(fixture.workspace, mark);
    // Control: git itself runs them.
    run(fixture.workspace, "git add -A; git status");
    for (const char* what : {"hook", "fsmonitor", "filter"}) {
        CAPTURE(what);
        CHECK(remove_mark(mark, what));
    }
    make_hostile(fixture.at("nested"), mark);
    for (const char* what : {"hook", "fsmonitor", "filter"}) {
        remove_mark(mark, what);
    }
    ::setenv("GIT_DIR", fixture.at(".git").c_str(), 1); // as if cellgate was started by a hook
    Snapshots snapshots(fixture.options());
    const std::string before = snapshots.take().id;
    write(fixture.at("a"), "changed\n");
    const std::string after = snapshots.take().id;
    CHECK(snapshots.compare(before, after).changes.size() == 1);
    CHECK(snapshots.read(before, "a", 100) == "content\r\n");
    CHECK(snapshots.undo(before, after).refused.empty());
    snapshots.keep({before});
    ::unsetenv("GIT_DIR");
    CHECK(bytes_of(fixture.at("a")) == "content\r\n");
    for (const char* what : {"hook", "fsmonitor", "filter"}) {
        CAPTURE(what);
        CHECK_FALSE(remove_mark(mark, what));
    }
}

TEST_CASE("the repository of a workspace, with what is staged, stays as it is") {
    WorkspaceFixture fixture;
    write(fixture.at("a"), "1");
    run(fixture.workspace, "git init && git add a && git -c user.name=x -c user.email=x@y commit -m x");
    write(fixture.at("a"), "2");
    write(fixture.at("b"), "staged");
    run(fixture.workspace, "git add -A");
    write(fixture.at("a"), "3");
    const TreeText repository = scan_tree(fixture.at(".git"));
    const fs::file_time_type index_time = fs::last_write_time(fixture.at(".git/index"));
    Snapshots snapshots(fixture.options());
    const std::string before = snapshots.take().id;
    write(fixture.at("a"), "4");
    fs::remove(fixture.at("b"));
    const std::string after = snapshots.take().id;
    CHECK(snapshots.undo(before, after).restored.size() == 2);
    snapshots.keep({});
    CHECK(scan_tree(fixture.at(".git")) == repository);
    CHECK(fs::last_write_time(fixture.at(".git/index")) == index_time);
}
