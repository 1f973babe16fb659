#include "path_notes.hpp"
#include "sandbox/launcher.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <stdlib.h>

using namespace cellgate;
using namespace cellgate::session;

namespace {

namespace fs = std::filesystem;

// A sandbox that is planned as if it started, of a workspace beside which there is a folder that it does not show.
struct Place {
    Place() {
        std::string pattern = "/tmp/path-notes-XXXXXX";
        folder = ::mkdtemp(pattern.data());
        for (const char* name : {"home", "work/.git", "session", "data"}) {
            fs::create_directories(folder / name);
        }
        fs::permissions(folder / "session", fs::perms::owner_all);
        for (const char* name : {"home/notes.txt", "work/.env", "work/plan.txt", "data/iris.csv"}) {
            std::ofstream(folder / name) << "text";
        }
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { fs::remove_all(folder); }

    std::string operator/(const char* name) const { return (folder / name).string(); }

    std::optional<protocol::Note> note(const std::string& path, bool for_person = true,
                                       const sandbox::Additions& additions = {}) const {
        StartedSandbox started;
        sandbox::Profile& profile = started.profile;
        profile.workspace = *this / "work";
        profile.session_dir = *this / "session";
        profile.settings = sandbox::with_additions(nullptr, additions);
        started.additions = additions;
        started.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", *this / "home"}};
        const auto launcher = sandbox::make_launcher(sandbox::Isolation::bwrap, started.environment);
        async::Command command;
        command.argv = {"/bin/true"};
        started.mounts = launcher->wrap(std::move(command), profile).mounts;
        return note_of_path(started, path, for_person);
    }

    fs::path folder;
};

using Paths = std::vector<std::string>;

} // namespace

TEST_CASE("the paths of Python's errors are found, and nothing else is taken for one") {
    CHECK(paths_in_error("[Errno 2] No such file or directory: '/data/iris.csv'") == Paths{"/data/iris.csv"});
    CHECK(paths_in_error("[Errno 13] Permission denied: \"it's.txt\"") == Paths{"it's.txt"});
    CHECK(paths_in_error("[Errno 30] Read-only file system: 'a' -> '/usr/b'") == Paths{"a", "/usr/b"});
    for (const char* none :
         {"No such file or directory: '/data'", "[Errno 2] No such file or directory: '/a\\x00b'", "[Errno 2] '/data'",
          "[Errno x] No such file: '/data'", "", "[Errno 2] No such file or directory: '/data' and more"}) {
        CAPTURE(none);
        CHECK(paths_in_error(none).empty());
    }
    CHECK(paths_in_error("[Errno 2] No such file or directory: '" + std::string(100'000, 'a') + "'").empty());
}

TEST_CASE("what exists outside is offered for reading, and so is its folder for writing a new file") {
    const Place place;
    std::optional<protocol::Note> note = place.note(place / "data/iris.csv");
    REQUIRE(note);
    CHECK(note->text == place / "data/iris.csv" + " is not shown in the sandbox: the sandbox's own scratch space");
    CHECK(note->remedy == "allow reading " + place / "data/iris.csv" + ": restarts the kernel");
    REQUIRE(note->sandbox);
    CHECK(note->sandbox->allow_read == Paths{place / "data/iris.csv"});
    CHECK_FALSE(note->sandbox->allow_write);

    note = place.note(place / "data/out.csv");
    REQUIRE(note);
    CHECK(note->sandbox->allow_write == Paths{place / "data"});

    note = place.note(place / "home/notes.txt");
    REQUIRE(note);
    CHECK(note->text.find("the sandbox's own home, empty at the start") != std::string::npos);

    CHECK_FALSE(place.note(place / "home/made.txt")); // the home as a whole cannot be had
    CHECK_FALSE(place.note(place / "data/no/such.csv"));
    CHECK_FALSE(place.note("/no-such-file-at-all"));
    CHECK_FALSE(place.note(place / "work/missing.txt"));
    CHECK_FALSE(place.note(place / "work/plan.txt"));
}

TEST_CASE("an agent does not learn what exists outside") {
    const Place place;
    CHECK_FALSE(place.note(place / "data/iris.csv", false));
    CHECK(place.note(place / "data/iris.csv", true)); // the control
    CHECK(place.note(place / "work/.env", false));    // in its own workspace
}

TEST_CASE("a guarded file says what guards it, and what can be done") {
    const Place place;
    std::optional<protocol::Note> note = place.note(place / "work/.env");
    REQUIRE(note);
    CHECK(note->text.find("guarded: a secret, by its name") != std::string::npos);
    CHECK(note->sandbox->allow_read == Paths{place / "work/.env"});

    note = place.note(place / "work/.git/config");
    CHECK_FALSE(note); // nothing there
    std::ofstream(place / "work/.git/config") << "text";
    note = place.note(place / "work/.git/config");
    REQUIRE(note);
    CHECK(note->text.find("programs outside of the sandbox run or obey it") != std::string::npos);
    CHECK(note->remedy == "change it outside of the sandbox");
    CHECK_FALSE(note->sandbox);

    note = place.note("/usr/bin/env");
    REQUIRE(note);
    CHECK(note->remedy.starts_with("write into the workspace"));
    CHECK_FALSE(note->sandbox);
}

TEST_CASE("what was offered, once given, is no reason for a note any more") {
    const Place place;
    CHECK_FALSE(place.note(place / "data/iris.csv", true, {{place / "data/iris.csv"}, {}, false})->sandbox->allow_read);
    CHECK(place.note(place / "data/iris.csv", true, {{place / "data"}, {}, false})->sandbox->allow_write ==
          Paths{place / "data/iris.csv"}); // it can be read; so it is writing that failed
    CHECK_FALSE(place.note(place / "data/out.csv", true, {{}, {place / "data"}, false}));
    CHECK(place.note(place / "work/.env", true, {{place / "work/.env"}, {}, false})->remedy ==
          "change it outside of the sandbox");
}
