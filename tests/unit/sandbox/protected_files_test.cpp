#include "base/unique_fd.hpp"
#include "machine.hpp"
#include "sandbox/protected_files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fcntl.h>

using namespace cellgate::sandbox;
using cellgate::UniqueFd;

namespace fs = std::filesystem;

TEST_CASE("secrets are known by name, and examples of them are not secret") {
    for (const char* name : {".env", ".env.local", ".env.production", ".env-prod", ".env_local", ".envrc", "id_ed25519",
                             "server.key", ".netrc"}) {
        CHECK_MESSAGE(is_secret_name(name), name);
    }
    for (const char* name : {".env.example", ".env.template", "env", "id_ed25519.pub", "key", ""}) {
        CHECK_MESSAGE(!is_secret_name(name), name);
    }
}

TEST_CASE("auto-run files are known by name") {
    CHECK(is_auto_run_name(".git"));
    CHECK(is_auto_run_name(".mcp.json"));
    for (const char* name : {".hg", "a.code-workspace", ".yarnrc.yml", ".npmrc", ".bash_login", ".gemini", ".codex",
                             ".githooks", ".Rprofile", ".VSCode"}) {
        CHECK_MESSAGE(is_auto_run_name(name), name);
    }
    for (const char* name :
         {"package.json", "Makefile", ".gitignore", ".gitattributes", "code-workspace", "AGENTS.md"}) {
        CHECK_FALSE_MESSAGE(is_auto_run_name(name), name);
    }
    CHECK_FALSE(is_auto_run_name(".github"));
    CHECK_FALSE(is_auto_run_name("git"));
}

TEST_CASE("a repository whose configuration names what has no protected name is in a notice") {
    Machine machine;
    machine.write(machine.workspace / ".git/config", "[core]\n\thooksPath = .husky\n[include]\n\tpath = config.more\n"
                                                     "[branch \"data.txt\"]\n\tremote = origin\n");
    CHECK(find_protected_files(machine.workspace).notices.empty());
    const fs::path other = machine.workspace / "part/other";
    machine.write(other / ".git/config", "[core] hooksPath = \"my hooks\" # ours\n"
                                         "[filter \"x\"]\n\tclean = sh tools/clean.sh %f \\\n | ./second.sh\n");
    machine.write(other / "tools/clean.sh", "");
    machine.write(other / "second.sh", "");
    const ProtectedFiles found = find_protected_files(machine.workspace);
    REQUIRE(found.notices.size() == 1);
    CHECK(found.notices.front().find((other / ".git").string() + " makes git run or obey") == 0);
    CHECK(found.notices.front().find((other / "my hooks").string() + " and 2 more") != std::string::npos);
    CHECK(found.places.contains(other / "my hooks"));
    for (const char* name : {"tools/clean.sh", "second.sh"}) {
        CHECK_MESSAGE(std::count(found.read_only.begin(), found.read_only.end(), other / name) == 1, name);
    }
    CHECK(std::count(found.read_only.begin(), found.read_only.end(), machine.workspace / "data.txt") == 0);
}

TEST_CASE("guarded files are found at any depth, through symlinks only inside the workspace") {
    Machine machine;
    fs::create_symlink(machine.home / ".ssh/id_rsa", machine.workspace / "part/.env");
    fs::create_directory_symlink("..", machine.workspace / "part/up");
    machine.write(machine.workspace / "part/.aws/credentials", "");
    machine.write(machine.workspace / "env/pyvenv.cfg", "");
    machine.write(machine.workspace / "env/lib/python3.11/site-packages/certifi/cacert.pem", "");
    ProtectedFiles found = find_protected_files(machine.workspace);
    auto under = [&](std::vector<std::string> names) {
        for (std::string& name : names) {
            name = machine.workspace / name;
        }
        return names;
    };
    for (std::vector<std::string>* paths : {&found.secret_files, &found.secret_directories, &found.read_only}) {
        std::sort(paths->begin(), paths->end());
    }
    CHECK(found.secret_files == under({".env", ".envrc", "deploy/.env.production", "deploy/secrets/prod"}));
    CHECK(found.secret_directories == under({"part/.aws"}));
    CHECK(found.read_only == under({".git", ".mcp.json", "env", "part/.vscode"}));
}

TEST_CASE("a folder that was made to look like a virtual environment is searched for secrets") {
    Machine machine;
    machine.write(machine.workspace / "deploy/pyvenv.cfg", "");
    CHECK(machine.python(Isolation::none, R"(T(lambda: open(W + "/deploy/.env.production").read()))")
              .out.starts_with("ESCAPED"));
    const Ran ran = machine.python(Isolation::bwrap, R"(T(lambda: open(W + "/deploy/.env.production").read()))");
    CHECK_MESSAGE(ran.out.starts_with("HELD PermissionError"), ran.out);
    machine.write(machine.workspace / ".env.d/pyvenv.cfg", "");
    machine.write(machine.workspace / ".aws/pyvenv.cfg", "");
    const ProtectedFiles found = find_protected_files(machine.workspace);
    CHECK(found.secret_directories == std::vector<std::string>{machine.workspace / ".aws"});
}

TEST_CASE("more guarded files than a sandbox can hide are an error that says where they are") {
    Machine machine;
    const auto make = [&](int from, int to) {
        for (int i = from; i < to; ++i) {
            machine.write(machine.workspace / "src" / (".env." + std::to_string(i)), "CANARY");
        }
    };
    const std::string program = R"(T(lambda: open(W + "/src/.env.99").read()))";
    make(0, 100);
    CHECK(machine.python(Isolation::none, program).out.starts_with("ESCAPED"));
    CHECK(machine.python(Isolation::bwrap, program).out.starts_with("HELD"));
    make(100, 5000);
    try {
        machine.python(Isolation::bwrap, program);
        FAIL("it ran");
    } catch (const cellgate::Error& error) {
        CHECK(error.code == cellgate::ErrorCode::sandbox_unavailable);
        CHECK_MESSAGE(error.message.find("at most 500") != std::string::npos, error.message);
        CHECK_MESSAGE(error.message.find("5000, are in " + (machine.workspace / "src").string()) != std::string::npos,
                      error.message);
        CHECK_FALSE(error.hint.empty());
    }
}

TEST_CASE("a workspace too large to be searched is refused, as a cell can make it so to lift the guards") {
    Machine machine;
    const std::string bulk = machine.workspace / "bulk/";
    fs::create_directories(bulk);
    const std::string first = bulk + "0";
    UniqueFd made(::creat(first.c_str(), 0600));
    // A file takes some ten thousand links.
    for (int i = 1; i < 200'000; ++i) {
        const std::string target = i % 20'000 == 0 ? std::string() : bulk + std::to_string(i - i % 20'000);
        if (target.empty()) {
            UniqueFd next(::creat((bulk + std::to_string(i)).c_str(), 0600));
        } else {
            REQUIRE(::link(target.c_str(), (bulk + std::to_string(i)).c_str()) == 0);
        }
    }
    try {
        machine.python(Isolation::bwrap, "T(lambda: open(W + '/.env').read())");
        FAIL("it ran");
    } catch (const cellgate::Error& error) {
        CHECK(error.code == cellgate::ErrorCode::sandbox_unavailable);
        CHECK_FALSE(error.hint.empty());
    }
}
