#include "machine.hpp"
#include "sandbox/guarded_files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fcntl.h>

using namespace cellgate::sandbox;

namespace fs = std::filesystem;

TEST_CASE("secrets are known by name, and examples of them are not secret") {
    for (const char* name : {".env", ".env.local", ".env.production", ".envrc", "id_ed25519", "server.key", ".netrc"}) {
        CHECK_MESSAGE(is_secret_name(name), name);
    }
    for (const char* name : {".env.example", ".env.template", ".environment", "env", "id_ed25519.pub", "key", ""}) {
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
    CHECK(found.complete);
}

TEST_CASE(
    "in a workspace that is too large to be searched, the layer is not claimed, and what lies on top is guarded") {
    Machine machine;
    std::string bulk = machine.workspace / "bulk/";
    fs::create_directories(bulk);
    for (int i = 0; i < 50'000; ++i) {
        Descriptor made(::creat((bulk + std::to_string(i)).c_str(), 0600));
    }
    Ran ran = machine.python(Isolation::bwrap, "T(lambda: open(W + '/.env').read())");
    CHECK_MESSAGE(ran.out.starts_with("HELD"), ran.out);
    CHECK(std::count(ran.layers.begin(), ran.layers.end(), "guarded-files") == 0);
    CHECK(ran.layers.front() == "bwrap");
}
