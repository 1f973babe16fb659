#include "tools/program_folders.hpp"
#include "tools_fixture.hpp"

using namespace tools_fixture;

namespace {

struct Machine {
    Machine() : home(folder.path / "home"), workspace(folder.path / "workspace") {
        fs::create_directories(home);
        fs::create_directories(workspace);
        environment = {{"HOME", home.string()}, {"PATH", (home / "node/bin").string() + ":relative:/usr/bin"}};
    }
    void program(const fs::path& path, const std::string& text = "#!/bin/sh\n") {
        write_text(path, text);
        fs::permissions(path, fs::perms::owner_all);
    }
    std::vector<std::string> of(const fs::path& program) {
        return tools::program_folders(program, environment, workspace);
    }
    static std::vector<std::string> texts(const std::vector<fs::path>& paths) { return {paths.begin(), paths.end()}; }

    TempFolder folder;
    fs::path home;
    fs::path workspace;
    Environment environment;
};

} // namespace

TEST_CASE("a program of the system needs nothing, another one its bin and lib") {
    Machine machine;
    CHECK(machine.of("/usr/bin/env").empty());
    CHECK(machine.of(machine.home / "missing").empty());
    machine.program(machine.home / "tool/bin/run");
    fs::create_directories(machine.home / "tool/private");
    CHECK(machine.of(machine.home / "tool/bin/run") == Machine::texts({machine.home / "tool/bin"}));
    fs::create_directories(machine.home / "tool/lib");
    CHECK(machine.of(machine.home / "tool/bin/run") ==
          Machine::texts({machine.home / "tool/bin", machine.home / "tool/lib"}));
}

TEST_CASE("of a home itself the program alone is shown") {
    Machine machine;
    machine.program(machine.home / "bin/run");
    machine.program(machine.home / "run");
    CHECK(machine.of(machine.home / "bin/run") == Machine::texts({machine.home / "bin/run"}));
    CHECK(machine.of(machine.home / "run") == Machine::texts({machine.home / "run"}));
}

TEST_CASE("a script needs its interpreter, and what npm installed its packages") {
    Machine machine;
    machine.program(machine.home / "node/bin/node", "no script");
    const fs::path packages = machine.home / "other/lib/node_modules";
    machine.program(packages / "server/dist/index.js", "#!/usr/bin/env -S node\n");
    fs::create_directories(machine.home / "other/bin");
    fs::create_symlink(packages / "server/dist/index.js", machine.home / "other/bin/server");
    const std::vector<std::string> folders = machine.of(machine.home / "other/bin/server");
    CHECK(folders == Machine::texts({packages, machine.home / "node/bin"}));
    CHECK(tools::path_in_sandbox(machine.environment, folders) == (machine.home / "node/bin").string() + ":/usr/bin");
    CHECK(tools::path_in_sandbox(machine.environment, {}) == "/usr/bin");
}

TEST_CASE("a script that is its own interpreter ends the search") {
    Machine machine;
    const fs::path loop = machine.home / "tool/bin/loop";
    machine.program(loop, "#!" + loop.string() + "\n");
    CHECK(machine.of(loop) == Machine::texts({machine.home / "tool/bin"}));
}

TEST_CASE("a link or script in the workspace shows no folder outside of it, but that of a Python") {
    Machine machine;
    machine.program(machine.home / "private/bin/run");
    CHECK(machine.of(machine.home / "private/bin/run").size() == 1); // the control
    fs::create_symlink(machine.home / "private/bin/run", machine.workspace / "run");
    CHECK(machine.of(machine.workspace / "run").empty());
    fs::create_directory_symlink(machine.home / "private", machine.workspace / "private");
    CHECK(machine.of(machine.workspace / "private/bin/run").empty());
    for (const fs::path& interpreter : {machine.workspace / "run", machine.home / "private/bin/run"}) {
        machine.program(machine.workspace / "script", "#!" + interpreter.string() + "\n");
        CHECK(machine.of(machine.workspace / "script").empty());
    }
    machine.program(machine.home / "script", "#!" + (machine.home / "private/bin/run").string() + "\n");
    CHECK(machine.of(machine.home / "script").size() == 2); // the control
}
