#include "machine.hpp"
#include "sandbox/guarded_files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fcntl.h>

using namespace cellgate::sandbox;

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
    CHECK_FALSE(is_auto_run_name(".github"));
    CHECK_FALSE(is_auto_run_name("git"));
}

TEST_CASE("guarded files are found at any depth, through symlinks only inside the workspace") {
    Machine machine;
    fs::create_symlink(machine.home / ".ssh/id_rsa", machine.workspace / "part/.env");
    fs::create_directory_symlink("..", machine.workspace / "part/up");
    machine.write(machine.workspace / "part/.aws/credentials", "");
    machine.write(machine.workspace / "env/pyvenv.cfg", "");
    machine.write(machine.workspace / "env/lib/cacert.pem", "");
    GuardedFiles found = find_guarded_files(machine.workspace);
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

TEST_CASE("a workspace too large to be searched is refused, as a cell can make it so to lift the guards") {
    Machine machine;
    const std::string bulk = machine.workspace / "bulk/";
    fs::create_directories(bulk);
    const std::string first = bulk + "0";
    Descriptor made(::creat(first.c_str(), 0600));
    // A file takes some ten thousand links.
    for (int i = 1; i < 200'000; ++i) {
        const std::string target = i % 20'000 == 0 ? std::string() : bulk + std::to_string(i - i % 20'000);
        if (target.empty()) {
            Descriptor next(::creat((bulk + std::to_string(i)).c_str(), 0600));
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
