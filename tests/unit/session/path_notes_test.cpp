#include "path_notes.hpp"
#include "sandbox/launcher.hpp"

#include <doctest/doctest.h>

#include <cerrno>
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
                                       const sandbox::Additions& additions = {}, int error = ENOENT) const {
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
        return note_of_path(started, {path, error}, for_person);
    }

    // Of an error that only writing meets.
    std::optional<protocol::Note> note_of_writing(const std::string& path,
                                                  const sandbox::Additions& additions = {}) const {
        return note(path, true, additions, EROFS);
    }

    fs::path folder;
};

using Paths = std::vector<std::string>;

} // namespace

TEST_CASE("what exists outside is offered for reading") {
    const Place place;
    std::optional<protocol::Note> note = place.note(place / "data/iris.csv");
    REQUIRE(note);
    CHECK(note->text == place / "data/iris.csv" + " is not shown in the sandbox: the sandbox's own scratch space");
    CHECK(note->remedy == "allow reading " + place / "data/iris.csv" + ": restarts the kernel");
    REQUIRE(note->sandbox);
    CHECK(note->sandbox->allow_read == Paths{place / "data/iris.csv"});
    CHECK_FALSE(note->sandbox->allow_write);

    note = place.note(place / "home/notes.txt");
    REQUIRE(note);
    CHECK(note->text.find("the sandbox's own home, empty at the start") != std::string::npos);

    CHECK_FALSE(place.note(place / "home/made.txt"));
    CHECK_FALSE(place.note(place / "data/no/such.csv"));
    CHECK_FALSE(place.note("/no-such-file-at-all"));
    CHECK_FALSE(place.note(place / "work/missing.txt"));
    CHECK_FALSE(place.note(place / "work/plan.txt"));
}

TEST_CASE("of a name that does not exist outside either, nothing is offered") {
    const Place place;
    for (const int error : {ENOENT, EROFS, EACCES}) {
        const std::optional<protocol::Note> note = place.note(place / "data/typo.csv", true, {}, error);
        REQUIRE(note);
        CHECK(note->text.starts_with(place / "data/typo.csv" + " does not exist, and its folder is not shown"));
        CHECK_FALSE(note->sandbox);
        CHECK(note->remedy.starts_with("check the name"));
    }
    CHECK_FALSE(place.note(place / "data/typo.csv", false));
}

TEST_CASE("writing is offered where writing was refused, and never more than the file itself") {
    const Place place;
    const sandbox::Additions shown{{place / "data"}, {}, false};
    std::optional<protocol::Note> note = place.note_of_writing(place / "data/iris.csv", shown);
    REQUIRE(note);
    CHECK(note->sandbox->allow_write == Paths{place / "data/iris.csv"});
    CHECK_FALSE(place.note(place / "data/iris.csv", true, shown)); // it can be read: a text that says else is no reason

    note = place.note_of_writing(place / "data/new.csv", shown);
    REQUIRE(note);
    CHECK(note->text.find("its folder can be read, not written") != std::string::npos);
    CHECK_FALSE(note->sandbox);
    CHECK_FALSE(place.note(place / "data/new.csv", true, shown));
    CHECK_FALSE(place.note_of_writing(place / "work/new.csv"));

    // Hidden whole: what the error says was refused is not to be known, and reading is the less of it.
    note = place.note_of_writing(place / "data/iris.csv");
    REQUIRE(note);
    CHECK_FALSE(note->sandbox->allow_write);
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

    note = place.note_of_writing(place / "work/.git/config");
    REQUIRE(note); // nothing there, and nothing to be made
    CHECK(note->text.find("programs outside of the sandbox run or obey it") != std::string::npos);
    CHECK_FALSE(note->sandbox);
    std::ofstream(place / "work/.git/config") << "text";
    CHECK_FALSE(place.note(place / "work/.git/config")); // it can be read
    note = place.note_of_writing(place / "work/.git/config");
    REQUIRE(note);
    CHECK(note->text.find("programs outside of the sandbox run or obey it") != std::string::npos);
    CHECK(note->remedy == "change it outside of the sandbox");
    CHECK_FALSE(note->sandbox);

    note = place.note_of_writing("/usr/bin/env");
    REQUIRE(note);
    CHECK(note->remedy.starts_with("write into the workspace"));
    CHECK_FALSE(note->sandbox);
}

TEST_CASE("what was offered, once given, is no reason for a note any more") {
    const Place place;
    CHECK_FALSE(place.note(place / "data/iris.csv", true, {{place / "data/iris.csv"}, {}, false}));
    CHECK_FALSE(place.note_of_writing(place / "data/iris.csv", {{}, {place / "data/iris.csv"}, false}));
    CHECK_FALSE(place.note_of_writing(place / "data/out.csv", {{}, {place / "data"}, false}));
    CHECK(place.note_of_writing(place / "work/.env", {{place / "work/.env"}, {}, false})->remedy ==
          "change it outside of the sandbox");
}
