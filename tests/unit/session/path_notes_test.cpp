#include "base/json_codec.hpp"
#include "path_notes.hpp"
#include "sandbox/launcher.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

using namespace cellgate;
using namespace cellgate::session;

namespace {

namespace fs = std::filesystem;

// A sandbox that is planned as if it started, of a workspace beside which there is a folder that it does not show.
struct Fixture {
    Fixture() {
        for (const char* name : {"home", "work/.git", "session", "data"}) {
            fs::create_directories(folder / name);
        }
        fs::permissions(folder / "session", fs::perms::owner_all);
        for (const char* name : {"home/notes.txt", "work/.env", "work/plan.txt", "data/iris.csv"}) {
            std::ofstream(folder / name) << "text";
        }
    }

    std::string operator/(const char* name) const { return (folder / name).string(); }

    std::optional<protocol::Note> note(const std::string& path, bool for_user = true,
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
        return note_of_path(started, {path, error}, for_user);
    }

    // Of an error that only writing meets.
    std::optional<protocol::Note> note_of_writing(const std::string& path,
                                                  const sandbox::Additions& additions = {}) const {
        return note(path, true, additions, EROFS);
    }

    TempFolder temp_folder;
    fs::path folder = temp_folder.path;
};

using Paths = std::vector<std::string>;

} // namespace

TEST_CASE("what exists outside is offered for reading") {
    const Fixture fixture;
    std::optional<protocol::Note> note = fixture.note(fixture / "data/iris.csv");
    REQUIRE(note);
    CHECK(note->text == fixture / "data/iris.csv" + " is not shown in the sandbox: the sandbox's own scratch space");
    CHECK(note->remedy == "allow reading " + fixture / "data/iris.csv" + ": restarts the kernel");
    REQUIRE(note->sandbox);
    CHECK(note->sandbox->allow_read == Paths{fixture / "data/iris.csv"});
    CHECK_FALSE(note->sandbox->allow_write);

    note = fixture.note(fixture / "home/notes.txt");
    REQUIRE(note);
    CHECK(note->text.find("the sandbox's own home, empty at the start") != std::string::npos);

    CHECK_FALSE(fixture.note(fixture / "home/made.txt"));
    CHECK_FALSE(fixture.note(fixture / "data/no/such.csv"));
    CHECK_FALSE(fixture.note("/no-such-file-at-all"));
    CHECK_FALSE(fixture.note(fixture / "work/missing.txt"));
    CHECK_FALSE(fixture.note(fixture / "work/plan.txt"));
}

TEST_CASE("of a name that does not exist outside either, nothing is offered") {
    const Fixture fixture;
    for (const int error : {ENOENT, EROFS, EACCES}) {
        const std::optional<protocol::Note> note = fixture.note(fixture / "data/typo.csv", true, {}, error);
        REQUIRE(note);
        CHECK(note->text.starts_with(fixture / "data/typo.csv" + " does not exist, and its folder is not shown"));
        CHECK_FALSE(note->sandbox);
        CHECK(note->remedy.starts_with("check the name"));
    }
}

TEST_CASE("writing is offered where writing was refused, and never more than the file itself") {
    const Fixture fixture;
    const sandbox::Additions shown{{fixture / "data"}, {}, false};
    std::optional<protocol::Note> note = fixture.note_of_writing(fixture / "data/iris.csv", shown);
    REQUIRE(note);
    CHECK(note->sandbox->allow_write == Paths{fixture / "data/iris.csv"});
    CHECK_FALSE(
        fixture.note(fixture / "data/iris.csv", true, shown)); // it can be read: a text that says else is no reason

    note = fixture.note_of_writing(fixture / "data/new.csv", shown);
    REQUIRE(note);
    CHECK(note->text.find("its folder can be read, not written") != std::string::npos);
    CHECK_FALSE(note->sandbox);
    CHECK_FALSE(fixture.note(fixture / "data/new.csv", true, shown));
    CHECK_FALSE(fixture.note_of_writing(fixture / "work/new.csv"));

    // Hidden whole: what the error says was refused is not to be known, and reading is the less of it.
    note = fixture.note_of_writing(fixture / "data/iris.csv");
    REQUIRE(note);
    CHECK_FALSE(note->sandbox->allow_write);
}

TEST_CASE("an agent learns where the workspace is, and not what exists outside") {
    const Fixture fixture;
    std::optional<protocol::Note> note = fixture.note(fixture / "data/iris.csv", false);
    REQUIRE(note);
    CHECK(note->text == fixture / "data/iris.csv" + " is not in the sandbox: the sandbox's own scratch space");
    CHECK(note->remedy.starts_with("in the code: use files of the workspace, " + fixture / "work" + ";"));
    CHECK_FALSE(note->sandbox);
    const std::string of_iris = to_json(*note);
    note = fixture.note(fixture / "data/typo.csv", false);
    REQUIRE(note);
    std::string of_typo = to_json(*note);
    of_typo.replace(of_typo.find("typo"), 4, "iris");
    CHECK(of_typo == of_iris);
    CHECK(fixture.note("/no-such-file-at-all", false));
    note = fixture.note("/tmp/typo.csv", false);
    REQUIRE(note);
    CHECK(note->text == "/tmp/typo.csv is not in the sandbox: its folder is the sandbox's own, and was empty when the "
                        "kernel started");
    CHECK_FALSE(fixture.note(fixture / "work/missing.txt", false));
    CHECK(fixture.note(fixture / "data/iris.csv", true)->sandbox); // the control
    CHECK(fixture.note(fixture / "work/.env", false));             // in its own workspace
}

TEST_CASE("a guarded file says what guards it, and what can be done") {
    const Fixture fixture;
    std::optional<protocol::Note> note = fixture.note(fixture / "work/.env");
    REQUIRE(note);
    CHECK(note->text.find("guarded: a secret, by its name") != std::string::npos);
    CHECK(note->sandbox->allow_read == Paths{fixture / "work/.env"});

    note = fixture.note_of_writing(fixture / "work/.git/config");
    REQUIRE(note); // nothing there, and nothing to be made
    CHECK(note->text.find("programs outside of the sandbox run or obey it") != std::string::npos);
    CHECK_FALSE(note->sandbox);
    std::ofstream(fixture / "work/.git/config") << "text";
    CHECK_FALSE(fixture.note(fixture / "work/.git/config")); // it can be read
    note = fixture.note_of_writing(fixture / "work/.git/config");
    REQUIRE(note);
    CHECK(note->text.find("programs outside of the sandbox run or obey it") != std::string::npos);
    CHECK(note->remedy == "change it outside of the sandbox");
    CHECK_FALSE(note->sandbox);

    note = fixture.note_of_writing("/usr/bin/env");
    REQUIRE(note);
    CHECK(note->remedy.starts_with("in the code: write into the workspace"));
    CHECK_FALSE(note->sandbox);
}

TEST_CASE("what was offered, once given, is no reason for a note any more") {
    const Fixture fixture;
    CHECK_FALSE(fixture.note(fixture / "data/iris.csv", true, {{fixture / "data/iris.csv"}, {}, false}));
    CHECK_FALSE(fixture.note_of_writing(fixture / "data/iris.csv", {{}, {fixture / "data/iris.csv"}, false}));
    CHECK_FALSE(fixture.note_of_writing(fixture / "data/out.csv", {{}, {fixture / "data"}, false}));
    CHECK(fixture.note_of_writing(fixture / "work/.env", {{fixture / "work/.env"}, {}, false})->remedy ==
          "change it outside of the sandbox");
}
