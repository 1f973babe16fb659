// Profiles that would show what must stay hidden are refused, and values cannot become options of bwrap.

#include "base/error.hpp"
#include "machine.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

// The refusal's message and hint, or "" when there was none.
std::string refusal(Machine& machine, async::Command command = {}) {
    if (command.argv.empty()) {
        command.argv = {"/usr/bin/python3"};
    }
    try {
        make_launcher(Isolation::bwrap, machine.environment)->wrap(std::move(command), machine.profile);
    } catch (const Error& error) {
        CHECK_FALSE(error.hint.empty());
        return error.message + " " + error.hint;
    }
    return {};
}

bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a workspace that is or contains the home directory or the system is refused") {
    Machine machine;
    CHECK(refusal(machine) == "");
    for (const std::string& workspace :
         {std::string("/"), std::string("/usr"), std::string("/home"), std::string("/proc"), std::string("/dev/shm"),
          machine.home.string(), machine.root.string()}) {
        CAPTURE(workspace);
        machine.profile.workspace = workspace;
        CHECK(refusal(machine) != "");
    }
    fs::create_directory_symlink(machine.home, machine.root / "innocent");
    machine.profile.workspace = machine.root / "innocent";
    CHECK(mentions(refusal(machine), "contains your home directory"));
}

TEST_CASE("nothing that shows the sidecar's own directories is mounted") {
    Machine machine;
    fs::path state = machine.workspace / "state/cellgate";
    fs::create_directories(state);
    machine.profile.hidden = {state};
    CHECK(mentions(refusal(machine), "cellgate's own files"));
    machine.profile.hidden = {machine.workspace / "made-later/cellgate"};
    CHECK(mentions(refusal(machine), "cellgate's own files"));
    machine.profile.hidden = {state};
    machine.profile.workspace = state;
    CHECK(mentions(refusal(machine), "cellgate's own files"));
    machine.profile.workspace = machine.workspace / "part";
    CHECK(refusal(machine) == "");
    machine.profile.read_only = {machine.workspace / "state"};
    CHECK(mentions(refusal(machine), "cellgate's own files"));
}

TEST_CASE("a read-only path that holds the home directory, or is the workspace, is refused") {
    Machine machine;
    machine.profile.read_only = {machine.root};
    CHECK(mentions(refusal(machine), "contains your home directory"));
    machine.profile.read_only = {machine.workspace};
    CHECK(mentions(refusal(machine), "interpreter's prefix"));
}

TEST_CASE("a session directory that others can enter, or that is in the workspace, is refused") {
    Machine machine;
    fs::permissions(machine.session_dir, fs::perms::owner_all | fs::perms::group_exec);
    CHECK(mentions(refusal(machine), "0700"));
    machine.profile.session_dir = machine.workspace / "s";
    fs::create_directory(machine.profile.session_dir);
    fs::permissions(machine.profile.session_dir, fs::perms::owner_all);
    CHECK(mentions(refusal(machine), "must lie apart"));
}

TEST_CASE("a program or a working directory that cannot be seen inside is refused before the start") {
    Machine machine;
    machine.write(machine.home / "bin/python", "");
    CHECK(mentions(refusal(machine, async::Command{.argv = {machine.home / "bin/python"},
                                                   .environment = {},
                                                   .cwd = {},
                                                   .descriptors = {},
                                                   .groups = {}}),
                   "cannot be seen in the sandbox"));
    CHECK(mentions(refusal(machine, async::Command{.argv = {"/usr/bin/python3"},
                                                   .environment = {},
                                                   .cwd = machine.home,
                                                   .descriptors = {},
                                                   .groups = {}}),
                   "cannot be seen in the sandbox"));
    machine.profile.workspace = machine.root / "absent";
    CHECK(mentions(refusal(machine), "No such file"));
}

TEST_CASE("a folder that is exchanged after it was planned is noticed before anything runs in there") {
    for (const bool exchanged : {false, true}) { // the first is the control
        Machine machine;
        async::Command command;
        command.argv = {"/usr/bin/touch", machine.workspace / "ran"};
        std::unique_ptr<Launcher> launcher = make_launcher(Isolation::bwrap, machine.environment);
        const Launch launch = launcher->wrap(std::move(command), machine.profile);
        if (exchanged) {
            fs::rename(machine.workspace / "deploy", machine.workspace / "aside");
            fs::copy(machine.workspace / "aside", machine.workspace / "deploy",
                     fs::copy_options::recursive | fs::copy_options::copy_symlinks);
        }
        const Ran ran = machine.start(*launcher, launch);
        CHECK_MESSAGE(ran.status.success() == !exchanged, ran.error);
        CHECK(fs::exists(machine.workspace / "ran") == !exchanged);
        CHECK_MESSAGE(mentions(ran.error, "exchanged") == exchanged, ran.error);
    }
}

TEST_CASE("no value of the environment can become an option of bwrap") {
    Machine machine;
    async::Command command;
    command.argv = {"/usr/bin/python3"};
    command.environment["X"] = std::string("a\0--bind\0/\0/", 12);
    CHECK(mentions(refusal(machine, command), "NUL"));
    command.environment = {{std::string("X\0--bind", 8), "a"}};
    CHECK(mentions(refusal(machine, command), "NUL"));
    command.environment = {{"X=Y", "a"}};
    CHECK(mentions(refusal(machine, command), "not a name"));
}

TEST_CASE("an environment larger than bubblewrap takes is refused before it starts") {
    Machine machine;
    async::Command command;
    command.argv = {"/usr/bin/python3"};
    for (int i = 0; i < 1'000; ++i) {
        command.environment["V" + std::to_string(i)] = "x";
    }
    CHECK(refusal(machine, command) == "");
    for (int i = 0; i < 3'000; ++i) {
        command.environment["V" + std::to_string(i)] = "x";
    }
    CHECK(mentions(refusal(machine, command), "at most 9000 arguments"));
}

TEST_CASE("what a session adds to the environment neither acts on bwrap nor is in a command line") {
    Machine machine;
    async::Command command;
    command.argv = {"/usr/bin/true"};
    command.environment = {{"LD_PRELOAD", "/evil.so"}, {"TOKEN", "CANARY"}};
    Launch launch = make_launcher(Isolation::bwrap, machine.environment)->wrap(command, machine.profile);
    CHECK(launch.command.environment.size() == 1);
    CHECK(launch.command.environment.contains("PATH"));
    for (const std::string& argument : launch.command.argv) {
        CHECK_FALSE(mentions(argument, "CANARY"));
    }
    // It does arrive where it was meant to.
    machine.variables = command.environment;
    Ran ran = machine.python(Isolation::bwrap, "print(os.environ['LD_PRELOAD'], os.environ['TOKEN'])");
    CHECK_MESSAGE(ran.out == "/evil.so CANARY\n", ran.error);
}
