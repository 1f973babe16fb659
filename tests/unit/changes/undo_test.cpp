#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "workspace_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <random>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::changes;

namespace {

std::string why_refused(const UndoResult& result, const std::string& path) {
    const auto found = std::ranges::find(result.refused, path, &NotCovered::path);
    return found == result.refused.end() ? "" : found->why;
}

bool has(const TreeText& files, const TreeText::value_type& file) {
    const auto found = files.find(file.first);
    return found != files.end() && found->second == file.second;
}

// Counts the files that are renamed within a folder.
class RenameCounter {
  public:
    explicit RenameCounter(const fs::path& folder) : events_(::inotify_init1(IN_CLOEXEC)) {
        REQUIRE(::inotify_add_watch(events_.get(), folder.c_str(), IN_MOVED_TO) >= 0);
    }

    // Waits until there were so many. False if there is no further one within a minute.
    bool reach(unsigned count) {
        pollfd polled{events_.get(), POLLIN, 0};
        for (unsigned seen = 0; seen < count;) {
            alignas(inotify_event) std::array<char, 4096> buffer{};
            if (::poll(&polled, 1, 60'000) != 1) {
                return false;
            }
            const ssize_t size = ::read(events_.get(), buffer.data(), buffer.size());
            for (ssize_t at = 0; at < size; ++seen) {
                inotify_event event{};
                std::memcpy(&event, buffer.data() + at, sizeof event);
                at += static_cast<ssize_t>(sizeof event + event.len);
            }
        }
        return true;
    }

  private:
    UniqueFd events_;
};

// Three files, of which an "execution" changes all, and makes more.
struct Executed : WorkspaceFixture {
    Executed() {
        write(at("modified"), "before");
        write(at("d/deleted"), "before");
        write(at("mode"), "same");
        fs::create_symlink("modified", at("link"));
        files_before = scan_tree(workspace);
        before = snapshots.take().id;
        write(at("modified"), "after");
        fs::remove_all(at("d"));
        fs::permissions(at("mode"), fs::perms(0600));
        fs::remove(at("link"));
        fs::create_symlink("/etc", at("link"));
        write(at("new/e/created"), "after");
        files_after = scan_tree(workspace);
        after = snapshots.take().id;
    }

    Snapshots snapshots{options()};
    std::string before;
    std::string after;
    TreeText files_before;
    TreeText files_after;
};

} // namespace

TEST_CASE("undo restores contents, modes, links and folders, and can be undone") {
    Executed executed;
    const UndoResult undone = executed.snapshots.undo(executed.before, executed.after);
    CHECK(undone.refused.empty());
    CHECK(undone.restored.size() == 5);
    CHECK(executed.snapshots.take().id == executed.before);
    CHECK(scan_tree(executed.workspace) == executed.files_before);
    CHECK_FALSE(fs::exists(executed.at("new")));
    const UndoResult again = executed.snapshots.undo(executed.after, executed.before);
    CHECK(again.restored == undone.restored);
    CHECK(scan_tree(executed.workspace) == executed.files_after);
    CHECK_FALSE(executed.snapshots.recover());
}

TEST_CASE("undo of some paths leaves the others") {
    Executed executed;
    const UndoResult undone =
        executed.snapshots.undo(executed.before, executed.after, std::vector<std::string>{"modified", "new/e/created"});
    CHECK(undone.restored == std::vector<std::string>{"modified", "new/e/created"});
    CHECK(bytes_of(executed.at("modified")) == "before");
    CHECK_FALSE(fs::exists(executed.at("new")));
    CHECK_FALSE(fs::exists(executed.at("d")));
    const UndoResult refused =
        executed.snapshots.undo(executed.before, executed.after, std::vector<std::string>{"mode", "../x"});
    CHECK(why_refused(refused, "../x") == "it is not among the files that were changed");
    CHECK(describe_file(executed.at("mode")) == executed.files_after["mode"]);
}

TEST_CASE("after an undo of some paths the rest can be undone") {
    Executed executed;
    executed.snapshots.undo(executed.before, executed.after, std::vector<std::string>{"modified", "new/e/created"});
    const UndoResult rest = executed.snapshots.undo(executed.before, executed.after);
    CHECK(rest.refused.empty());
    CHECK(rest.restored == std::vector<std::string>{"d/deleted", "link", "mode"});
    CHECK(scan_tree(executed.workspace) == executed.files_before);
    const UndoResult nothing_left = executed.snapshots.undo(executed.before, executed.after);
    CHECK(nothing_left.restored.empty());
    CHECK(why_refused(nothing_left, "modified") == "its content was changed since");
}

TEST_CASE("what was changed since is refused, and then nothing is undone") {
    Executed executed;
    const auto change = [&](const std::string& path, const auto& how) {
        how(executed.at(path));
        const TreeText files = scan_tree(executed.workspace);
        const UndoResult result = executed.snapshots.undo(executed.before, executed.after);
        CHECK(scan_tree(executed.workspace) == files);
        CHECK(result.restored.empty());
        CHECK(result.refused.size() == 1);
        return why_refused(result, path);
    };
    CHECK(change("modified", [](const fs::path& path) { write(path, "AFTER"); }) == "its content was changed since");
    CHECK(change("modified", [](const fs::path& path) { fs::remove(path); }) == "it was removed since");
    CHECK(change("modified", [](const fs::path& path) { fs::create_directory(path); }) == "it is a folder now");
    fs::remove(executed.at("modified"));
    CHECK(change("modified", [](const fs::path& path) { fs::create_symlink("mode", path); }) ==
          "it is a symbolic link now");
    fs::remove(executed.at("modified"));
    CHECK(change("modified", [](const fs::path& path) { REQUIRE(::mkfifo(path.c_str(), 0600) == 0); }) ==
          "it is a socket, a pipe or a device now");
    fs::remove(executed.at("modified"));
    write(executed.at("modified"), "after");
    CHECK(change("mode", [](const fs::path& path) { fs::permissions(path, fs::perms(0400)); }) ==
          "its mode was changed since");
    fs::permissions(executed.at("mode"), fs::perms(0600));
    CHECK(change("d/deleted", [](const fs::path& path) { write(path, "by the user"); }) == "it is a file now");
    fs::remove_all(executed.at("d"));
    CHECK(change("d/deleted", [](const fs::path& path) { write(path.parent_path(), "a file"); }) ==
          "d is no folder now");
    fs::remove(executed.at("d"));
    CHECK(executed.snapshots.undo(executed.before, executed.after).refused.empty());
    CHECK(scan_tree(executed.workspace) == executed.files_before);
}

TEST_CASE("a file that became a folder becomes a file again, unless the folder has other files") {
    WorkspaceFixture fixture;
    write(fixture.at("a"), "file");
    write(fixture.at("b/c/d"), "in a folder");
    write(fixture.at(".gitignore"), "*.tmp");
    Snapshots snapshots(fixture.options());
    const std::string before = snapshots.take().id;
    const TreeText files_before = scan_tree(fixture.workspace);
    fs::remove(fixture.at("a"));
    write(fixture.at("a/x/y"), "now");
    fs::create_directories(fixture.at("a/empty/folder"));
    fs::remove_all(fixture.at("b"));
    write(fixture.at("b"), "file now");
    const std::string after = snapshots.take().id;
    const TreeText files_after = scan_tree(fixture.workspace);
    write(fixture.at("a/x/z.tmp"), "ignored");
    CHECK(why_refused(snapshots.undo(before, after), "a") == "it is a folder now, with a/x/z.tmp");
    fs::remove(fixture.at("a/x/z.tmp"));
    CHECK(scan_tree(fixture.workspace) == files_after);
    const UndoResult undone = snapshots.undo(before, after);
    CHECK(undone.refused.empty());
    CHECK(scan_tree(fixture.workspace) == files_before);
    CHECK(snapshots.undo(after, before).refused.empty());
    CHECK(bytes_of(fixture.at("a/x/y")) == "now");
}

TEST_CASE("a folder goes only if it is empty and was not there before") {
    WorkspaceFixture fixture;
    write(fixture.at(".gitignore"), "*.tmp\n/cache/\n");
    fs::create_directories(fixture.at("empty/deep"));
    write(fixture.at("has_ignored/a.tmp"), "x");
    Snapshots snapshots(fixture.options());
    const std::string before = snapshots.take().id;
    for (const char* path : {"empty/deep/new", "has_ignored/new", "made/deep/new", "made_with_ignored/new"}) {
        write(fixture.at(path), "new");
    }
    const std::string after = snapshots.take().id;
    write(fixture.at("made_with_ignored/a.tmp"), "x");
    CHECK(snapshots.undo(before, after).refused.empty());
    CHECK(fs::is_empty(fixture.at("empty/deep")));
    CHECK(fs::exists(fixture.at("has_ignored/a.tmp")));
    CHECK(fs::exists(fixture.at("made_with_ignored/a.tmp")));
    CHECK_FALSE(fs::exists(fixture.at("made")));
}

TEST_CASE("undo follows no link out of the workspace") {
    Executed executed;
    fs::create_directories(executed.folder.path / "outside/e");
    const fs::path victim = executed.folder.path / "outside/e/created";
    write(victim, "after");
    fs::remove_all(executed.at("new"));
    fs::create_symlink(executed.folder.path / "outside", executed.at("new"));
    const UndoResult result = executed.snapshots.undo(executed.before, executed.after);
    CHECK(result.refused.empty()); // what the execution created is not in the workspace any more
    CHECK(result.restored == std::vector<std::string>{"d/deleted", "link", "mode", "modified"});
    CHECK(bytes_of(victim) == "after");
    // Control: by name it is that file, as in the second snapshot.
    CHECK(bytes_of(executed.at("new/e/created")) == "after");
    fs::remove(executed.at("new/e/created"));
    CHECK_FALSE(fs::exists(victim));
}

TEST_CASE("undo does not write into a file that has a name outside") {
    WorkspaceFixture fixture;
    const fs::path outside = fixture.folder.path / "outside";
    write(fixture.at("a"), "before");
    fs::permissions(fixture.at("a"), fs::perms(0600));
    fs::create_hard_link(fixture.at("a"), outside);
    Snapshots snapshots(fixture.options());
    const std::string before = snapshots.take().id;
    write(fixture.at("a"), "after");
    fs::permissions(fixture.at("a"), fs::perms(0644));
    CHECK(bytes_of(outside) == "after"); // control: who writes into it changes both
    const std::string after = snapshots.take().id;
    CHECK(snapshots.undo(before, after).refused.empty());
    CHECK(bytes_of(fixture.at("a")) == "before");
    CHECK(bytes_of(outside) == "after");
    CHECK(fs::status(outside).permissions() == fs::perms(0644));
}

TEST_CASE("when an operation fails on the way, what was done is reverted") {
    WorkspaceFixture fixture;
    write(fixture.at("a"), "before");
    write(fixture.at("z"), std::string(1'000'000, 'z'));
    Snapshots snapshots(fixture.options());
    const std::string before = snapshots.take().id;
    fs::remove(fixture.at("z"));
    write(fixture.at("a"), "after");
    write(fixture.at("b"), "after");
    const std::string after = snapshots.take().id;
    const TreeText files_after = scan_tree(fixture.workspace);
    rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    const rlimit small{500'000, old.rlim_max}; // z cannot be written
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    CHECK_THROWS_WITH_AS(snapshots.undo(before, after), "cannot write z: File too large", Error);
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    CHECK(scan_tree(fixture.workspace) == files_after);
    CHECK_FALSE(snapshots.recover());
    CHECK(snapshots.undo(before, after).refused.empty());
}

TEST_CASE("an undo that was killed leaves each file before or after, and is completed") {
    constexpr int files = 8;
    WorkspaceFixture fixture;
    const auto path = [](const char* folder, int i) { return folder + std::to_string(i); };
    for (int i = 0; i < files; ++i) {
        write(fixture.at(path("modified/", i)), "before");
        write(fixture.at(path("deleted/a/", i)), "before");
    }
    Snapshots snapshots(fixture.options());
    std::string target = snapshots.take().id;
    TreeText target_files = scan_tree(fixture.workspace);
    fs::remove_all(fixture.at("deleted"));
    for (int i = 0; i < files; ++i) {
        write(fixture.at(path("modified/", i)), std::string(5'000, 'x'));
        write(fixture.at(path("new/a/", i)), "after");
    }
    std::string current = snapshots.take().id;
    TreeText current_files = scan_tree(fixture.workspace);
    std::mt19937 random(7);
    int interrupted = 0; // where the machine was busy, some were done before they were killed
    for (int round = 0; round < 50; ++round) {
        RenameCounter renames(fixture.at("modified"));
        const pid_t child = ::fork();
        if (child == 0) {
            Snapshots(fixture.options()).undo(target, current);
            ::_exit(0);
        }
        CHECK(renames.reach(1 + random() % files));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        for (const auto& each : scan_tree(fixture.workspace)) {
            const bool temporary = each.first.find(".cellgate-undo-") != std::string::npos;
            CHECK((temporary || each.first.ends_with('/') || has(current_files, each) || has(target_files, each)));
        }
        interrupted += snapshots.recover() ? 1 : 0;
        CHECK(scan_tree(fixture.workspace) == target_files);
        std::swap(target, current);
        std::swap(target_files, current_files);
    }
    CHECK(interrupted > 0);
}

TEST_CASE("what was changed after an interruption is left as it is") {
    Executed executed;
    const fs::path plan = executed.folder.path / "private/undo.json";
    write(plan, R"({"before":")" + executed.before + R"(","after":")" + executed.after +
                    R"(","temporary":".cellgate-undo-0","paths":["modified","mode","new/e/created"]})");
    write(executed.at("modified"), "by the user");
    write(executed.at("new/e/.cellgate-undo-0"), "half of a fi");
    const std::optional<UndoResult> result = executed.snapshots.recover();
    REQUIRE(result);
    CHECK(why_refused(*result, "modified") == "its content was changed since");
    CHECK(result->restored == std::vector<std::string>{"mode", "new/e/created"});
    CHECK(bytes_of(executed.at("modified")) == "by the user");
    CHECK_FALSE(fs::exists(executed.at("new")));
    CHECK_FALSE(fs::exists(plan));
}
