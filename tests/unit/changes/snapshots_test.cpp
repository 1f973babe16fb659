#include "base/error.hpp"
#include "workspace_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::changes;

namespace {

// "+a ~b -c": what was created, modified and deleted.
std::string summary(const ChangeList& list) {
    std::string text;
    for (const Change& change : list.changes) {
        text += text.empty() ? "" : " ";
        text += !change.before ? "+" : !change.after ? "-" : "~";
        text += change.path;
    }
    return text;
}

std::string why(const std::vector<NotCovered>& list, const std::string& path) {
    const auto found = std::ranges::find(list, path, &NotCovered::path);
    return found == list.end() ? "" : found->why;
}

} // namespace

TEST_CASE("what was created, modified and deleted is listed with its state before and after") {
    WorkspaceFixture fixture;
    write(fixture.at("kept.txt"), "kept");
    write(fixture.at("d/modified.txt"), "one");
    write(fixture.at("deleted.txt"), "gone");
    Snapshots snapshots(fixture.options());
    const Snapshot before = snapshots.take();
    CHECK(before.complete);
    CHECK(snapshots.take().id == before.id);
    write(fixture.at("d/modified.txt"), "three");
    write(fixture.at("d/e/created.txt"), "new");
    fs::remove(fixture.at("deleted.txt"));
    const Snapshot after = snapshots.take();
    const ChangeList list = snapshots.compare(before.id, after.id);
    CHECK(list.complete);
    CHECK(summary(list) == "+d/e/created.txt ~d/modified.txt -deleted.txt");
    REQUIRE(list.changes.size() == 3);
    CHECK(list.changes[1].before->sha256 == sha256("one"));
    CHECK(list.changes[1].before->bytes == 3);
    CHECK(list.changes[1].after->sha256 == sha256("three"));
    CHECK(list.changes[1].after->mode == (S_IFREG | 0644));
    CHECK(snapshots.read(before.id, "d/modified.txt", 100) == "one");
    CHECK(summary(snapshots.compare(after.id, before.id)) == "-d/e/created.txt ~d/modified.txt +deleted.txt");
    CHECK(summary(snapshots.compare(after.id, after.id)).empty());
}

TEST_CASE("a process that starts later goes on from the last snapshot") {
    WorkspaceFixture fixture;
    write(fixture.at("a"), "1");
    write(fixture.at("b"), "2");
    const Snapshot before = Snapshots(fixture.options()).take();
    CHECK(Snapshots(fixture.options()).take().id == before.id);
    write(fixture.at("a"), "3");
    Snapshots later(fixture.options());
    CHECK(summary(later.compare(before.id, later.take().id)) == "~a");
    write(fixture.folder.path / "private/repository/cellgate-last", "cellgate files 1, and then not");
    Snapshots without(fixture.options());
    CHECK(summary(without.compare(before.id, without.take().id)) == "~a");
}

TEST_CASE("a file that changes within a tick of the clock, to the same size, is seen") {
    WorkspaceFixture fixture;
    Snapshots snapshots(fixture.options());
    write(fixture.at("a"), "0");
    std::string last = snapshots.take().id;
    for (int i = 1; i < 10; ++i) {
        write(fixture.at("a"), std::to_string(i));
        const std::string id = snapshots.take().id;
        CHECK(id != last);
        last = id;
    }
}

TEST_CASE("a mode alone is a change, with all its bits") {
    WorkspaceFixture fixture;
    write(fixture.at("a"), "a");
    write(fixture.at("private"), "p");
    fs::permissions(fixture.at("private"), fs::perms(0600));
    Snapshots snapshots(fixture.options());
    const Snapshot before = snapshots.take();
    fs::permissions(fixture.at("a"), fs::perms(0640));
    fs::permissions(fixture.at("private"), fs::perms(02755));
    const ChangeList list = snapshots.compare(before.id, snapshots.take().id);
    CHECK(summary(list) == "~a ~private");
    REQUIRE(list.changes.size() == 2);
    CHECK(list.changes[0].before->mode == (S_IFREG | 0644));
    CHECK(list.changes[0].after->mode == (S_IFREG | 0640));
    CHECK(list.changes[1].before->mode == (S_IFREG | 0600));
    CHECK(list.changes[1].after->mode == (S_IFREG | 02755));
}

TEST_CASE("names with spaces, quotes, line ends and other scripts are names") {
    WorkspaceFixture fixture;
    Snapshots snapshots(fixture.options());
    const Snapshot before = snapshots.take();
    const std::vector<std::string> names = {"a b",     "quote\"s", "back\\slash", "line\nend", "tab\there", "übung/ñ",
                                            "-option", ":(top)x",  "*?[a]",       "a/.GIT",    "git~1",     "$(x)"};
    for (const std::string& name : names) {
        write(fixture.at(name), name);
    }
    const Snapshot after = snapshots.take();
    CHECK(after.complete);
    std::vector<std::string> found;
    for (const Change& change : snapshots.compare(before.id, after.id).changes) {
        found.push_back(change.path);
        CHECK(snapshots.read(after.id, change.path, 100) == change.path);
    }
    std::vector<std::string> sorted = names;
    std::ranges::sort(sorted);
    CHECK(found == sorted);
}

TEST_CASE("what is not covered is said, with why") {
    WorkspaceFixture fixture;
    write(fixture.at("large"), std::string(2000, 'x'));
    write(fixture.at("not-\xff-utf8"), "x");
    write(fixture.at("nested/a"), "x");
    run(fixture.at("nested"), "git init");
    write(fixture.at(".gitignore"), "*.tmp\n");
    write(fixture.at("a.tmp"), "x");
    write(fixture.at("excluded/a"), "x");
    REQUIRE(::mkfifo(fixture.at("pipe").c_str(), 0600) == 0);
    Options options = fixture.options();
    options.max_file_bytes = 1000;
    options.excluded = {"excluded"};
    Snapshots snapshots(options);
    const Snapshot snapshot = snapshots.take();
    CHECK_FALSE(snapshot.complete);
    CHECK(snapshot.not_covered_count == 3);
    CHECK(why(snapshot.not_covered, "large") == "it is larger than 1000 bytes");
    CHECK(why(snapshot.not_covered, "not-\\xff-utf8") == "its name is not UTF-8");
    CHECK(why(snapshot.not_covered, "nested/") == "it is a repository of its own");
    for (const char* path : {"large", "nested/a", "a.tmp", "excluded/a", "pipe"}) {
        CAPTURE(path);
        write(fixture.at("b"), path);
        CHECK_FALSE(snapshots.read(snapshots.take().id, path, 10));
    }
}

TEST_CASE("what only one snapshot covers is no change, and undo leaves it alone") {
    WorkspaceFixture fixture;
    write(fixture.at(".gitignore"), "data/\n*.tmp\n");
    write(fixture.at("data/a"), "of the user");
    write(fixture.at("b.tmp"), "of the user");
    write(fixture.at("large"), std::string(2000, 'x'));
    write(fixture.at("line\nend"), std::string(2000, 'x'));
    write(fixture.at("nested/c"), "of the user");
    run(fixture.at("nested"), "git init");
    write(fixture.at("later.log"), "seen");
    Options options = fixture.options();
    options.max_file_bytes = 1000;
    Snapshots snapshots(options);
    const Snapshot before = snapshots.take();
    write(fixture.at(".gitignore"), "*.log\n");
    write(fixture.at("large"), "small now");
    write(fixture.at("line\nend"), "small now");
    fs::remove_all(fixture.at("nested/.git"));
    write(fixture.at("new"), "new");
    const Snapshot after = snapshots.take();
    const ChangeList list = snapshots.compare(before.id, after.id);
    CHECK(summary(list) == "~.gitignore +new");
    CHECK_FALSE(list.complete);
    CHECK(why(list.unknown, "data/a") == "ignored");
    CHECK(why(list.unknown, "b.tmp") == "ignored");
    CHECK(why(list.unknown, "large") == "it is larger than 1000 bytes");
    CHECK(why(list.unknown, "line\nend") == "it is larger than 1000 bytes");
    CHECK(why(list.unknown, "nested/c") == "it is a repository of its own");
    CHECK(why(list.unknown, "later.log") == "ignored");
    CHECK(snapshots.undo(before.id, after.id).refused.empty());
    CHECK(bytes_of(fixture.at("data/a")) == "of the user");
    CHECK(bytes_of(fixture.at("nested/c")) == "of the user");
    CHECK(bytes_of(fixture.at("large")) == "small now");
    CHECK(bytes_of(fixture.at("line\nend")) == "small now");
    CHECK(bytes_of(fixture.at("later.log")) == "seen");
    CHECK_FALSE(fs::exists(fixture.at("new")));
}

TEST_CASE("beyond a bound nothing is covered, and that is said") {
    WorkspaceFixture fixture;
    for (int i = 0; i < 20; ++i) {
        write(fixture.at("f" + std::to_string(i)), std::string(100, 'x'));
    }
    Options options = fixture.options();
    options.max_files = 10;
    const Snapshot many = Snapshots(options).take();
    CHECK(many.id.empty());
    CHECK_FALSE(many.complete);
    CHECK(why(many.not_covered, "") == "it has more than 10 files");
    options.max_files = 1000;
    options.max_total_bytes = 1000;
    Snapshots snapshots(options);
    CHECK(why(snapshots.take().not_covered, "") == "its files have more than 1000 bytes");
    const ChangeList list = snapshots.compare("", "");
    CHECK_FALSE(list.complete);
    CHECK(list.changes.empty());
}

TEST_CASE("a full store covers nothing until snapshots are forgotten") {
    WorkspaceFixture fixture;
    Options options = fixture.options();
    options.max_total_bytes = 200'000;
    Snapshots snapshots(options);
    std::string random(90'000, '\0');
    std::string last;
    Snapshot snapshot;
    for (int i = 0; i < 4; ++i) {
        std::ifstream("/dev/urandom", std::ios::binary)
            .read(random.data(), static_cast<std::streamsize>(random.size()));
        write(fixture.at("a"), random);
        snapshot = snapshots.take();
        last = snapshot.id.empty() ? last : snapshot.id;
    }
    CHECK(snapshot.id.empty());
    CHECK(why(snapshot.not_covered, "") == "the snapshots would have more than 200000 bytes");
    snapshots.keep({}, true);
    CHECK_FALSE(snapshots.take().id.empty());
}

TEST_CASE("snapshots that are kept can be read, others are forgotten") {
    WorkspaceFixture fixture;
    Snapshots snapshots(fixture.options());
    std::vector<std::string> ids;
    for (int i = 0; i < 4; ++i) {
        write(fixture.at("a"), std::to_string(i));
        ids.push_back(snapshots.take().id);
    }
    const std::string gone = std::string(ids[1].size(), '0');
    snapshots.keep({ids[1], ids[1], gone}, true);
    CHECK(snapshots.read(ids[1], "a", 10) == "1");
    CHECK(snapshots.read(ids[3], "a", 10) == "3"); // the last one
    CHECK_THROWS_WITH_AS(snapshots.read(ids[0], "a", 10), doctest::Contains("there is no snapshot"), Error);
    CHECK_THROWS_AS(snapshots.compare(ids[0], ids[1]), Error);
    for (const char* id : {"--help", "HEAD", "", "refs/cellgate/last"}) {
        CAPTURE(id);
        CHECK_THROWS_WITH_AS(snapshots.read(id, "a", 10), doctest::Contains("expected the id"), Error);
    }
}

TEST_CASE("reading is bounded") {
    WorkspaceFixture fixture;
    write(fixture.at("a"), "12345");
    fs::create_symlink("/nowhere", fixture.at("link"));
    Snapshots snapshots(fixture.options());
    const std::string id = snapshots.take().id;
    CHECK(snapshots.read(id, "a", 5) == "12345");
    CHECK(snapshots.read(id, "link", 100) == "/nowhere");
    CHECK_THROWS_WITH_AS(snapshots.read(id, "a", 4), doctest::Contains("4 are the most"), Error);
    CHECK_FALSE(snapshots.read(id, "b", 4));
}

TEST_CASE("without git the error says what to install") {
    WorkspaceFixture fixture;
    const std::string path = ::getenv("PATH");
    ::setenv("PATH", fixture.folder.path.c_str(), 1);
    std::string hint;
    try {
        Snapshots(fixture.options()).take();
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::store_failed);
        hint = error.hint;
    }
    ::setenv("PATH", path.c_str(), 1);
    CHECK(hint.starts_with("Install git"));
}
