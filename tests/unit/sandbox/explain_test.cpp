// What `sandbox explain` says is what a process in the sandbox sees.
#include "settings_fixture.hpp"

using namespace cellgate;
using namespace cellgate::sandbox;
using namespace cellgate::sandbox::settings_fixture;

namespace fs = std::filesystem;

namespace {

void make_files(const Machine& machine) {
    machine.write(machine.home / "set/a.csv", "1");
    machine.write(machine.home / "set/.env", "CANARY");
    machine.write(machine.home / "results/x", "1");
    machine.write(machine.workspace / "vault/open/x", "1");
    machine.write(machine.workspace / "vault/y", "1");
    machine.write(machine.workspace / "frozen", "1");
    machine.write(machine.workspace / "mine", "1");
    fs::permissions(machine.workspace / "mine", fs::perms::none);
    fs::create_symlink("data.txt", machine.workspace / "link");
    fs::create_symlink(machine.home / ".ssh/id_rsa", machine.workspace / "key");
    fs::create_symlink("loop", machine.workspace / "loop");
}

// Of all kinds: shown, hidden, links, the system's, and absent ones.
std::vector<std::string> explained_paths(const Machine& machine) {
    return {"data.txt",
            ".env",
            ".envrc",
            ".git",
            ".git/config",
            ".mcp.json",
            "part/.vscode/tasks.json",
            "part",
            "mcptools",
            "mcptools/fs/read_file.py",
            "deploy/.env",
            "deploy/secrets/prod",
            "link",
            "key",
            "loop",
            "mine",
            "frozen",
            "absent",
            "vault/y",
            "vault/open",
            "vault/open/x",
            ".",
            machine.home,
            machine.home / ".ssh",
            machine.home / ".ssh/id_rsa",
            machine.home / "set",
            machine.home / "set/a.csv",
            machine.home / "set/.env",
            machine.home / "results/x",
            machine.home / "results/absent",
            "/",
            "/usr",
            "/bin/sh",
            "/usr/share/doc",
            "/etc",
            "/etc/passwd",
            "/etc/shadow",
            "/etc/machine-id",
            "/etc/hostname",
            "/tmp",
            "/tmp/x",
            "/var/tmp",
            "/run",
            "/sys",
            "/home",
            "/dev",
            "/proc",
            machine.session_dir,
            machine.session_dir.parent_path(),
            "../.ssh/id_rsa",
            "/usr/bin/../lib/../share/doc/..",
            machine.root};
}

// For each path what a process in the sandbox can do with it: "write", "read", "unreadable" or "absent".
std::vector<std::string> seen_in_sandbox(Machine& machine, const std::vector<std::string>& paths) {
    std::string program = "import errno\n";
    for (const std::string& path : paths) {
        program += "p = os.path.join(W, r'" + path + "')\n";
        program += R"(
try:
    os.listdir(p) if os.path.isdir(p) else open(p).close()
    seen = "read"
    try:
        os.close(os.open(p, os.O_TMPFILE | os.O_RDWR)) if os.path.isdir(p) else open(p, "a").close()
        seen = "write"
    except OSError: pass
except FileNotFoundError: seen = "absent"
except OSError as e: seen = "absent" if e.errno == errno.ELOOP else "unreadable"
print(seen)
)";
    }
    const Ran ran = machine.python(Isolation::bwrap, program);
    REQUIRE_MESSAGE(ran.status.success(), ran.error);
    std::vector<std::string> seen;
    for (std::size_t at = 0, end = 0; (end = ran.out.find('\n', at)) != std::string::npos; at = end + 1) {
        seen.push_back(ran.out.substr(at, end - at));
    }
    return seen;
}

bool agree(Visibility explained, const std::string& seen) {
    switch (explained) {
    case Visibility::read_write:
        return seen == "write";
    case Visibility::read_only:
        return seen == "read";
    case Visibility::own:
        return seen == "read" || seen == "write";
    case Visibility::unreadable:
        // The content of a hidden folder is not even named.
        return seen == "unreadable" || seen == "absent";
    case Visibility::absent:
        return seen == "absent";
    }
    return false;
}

void check_reasons(const Machine& machine, const std::vector<std::string>& paths, const Explained& explained,
                   bool settings) {
    const auto of = [&](const std::string& path) {
        return explained.paths[static_cast<std::size_t>(std::find(paths.begin(), paths.end(), path) - paths.begin())];
    };
    CHECK(of(".env").visibility == Visibility::unreadable);
    CHECK(mentions(of(".env").reason, "secret"));
    CHECK(of(".git/config").visibility == Visibility::read_only);
    CHECK(of("frozen").visibility == (settings ? Visibility::read_only : Visibility::read_write));
    CHECK(mentions(of("frozen").reason, settings ? "filesystem.denyWrite[0] \"frozen\"" : "the workspace"));
    CHECK(of(machine.home / "set/a.csv").visibility == (settings ? Visibility::read_only : Visibility::absent));
    CHECK(of("vault/y").visibility == (settings ? Visibility::unreadable : Visibility::read_write));
    CHECK(of(machine.home).visibility == Visibility::own);
    CHECK(of("mine").visibility == Visibility::unreadable);
}

} // namespace

TEST_CASE("what is explained is what a process in the sandbox sees") {
    Machine machine;
    make_files(machine);
    const Lists with{R"(["vault", "/usr/share/doc"])", R"(["~/set", "vault/open"])", R"([".", "~/results"])",
                     R"(["frozen"])"};
    const std::vector<std::string> paths = explained_paths(machine);
    for (const bool settings : {false, true}) {
        if (settings) {
            use(machine, with);
        }
        const Explained explained = explain_paths(machine.profile, machine.environment, paths);
        const std::vector<std::string> seen = seen_in_sandbox(machine, paths);
        REQUIRE(seen.size() == paths.size());
        for (std::size_t i = 0; i < paths.size(); ++i) {
            CAPTURE(settings);
            CAPTURE(paths[i]);
            CAPTURE(seen[i]);
            CAPTURE(explained.paths[i].reason);
            CHECK(agree(explained.paths[i].visibility, seen[i]));
            CHECK_FALSE(explained.paths[i].reason.empty());
        }
        check_reasons(machine, paths, explained, settings);
    }
}

TEST_CASE("hosts are explained by the line that names them, and denying counts first") {
    Settings settings;
    settings.file = "/s.json";
    settings.network.allowed_domains = {"example.org", "*.a.b:443"};
    settings.network.denied_domains = {"bad.a.b"};
    const auto ask = [&](const char* host) { return explain_host(&settings, parse_host_query(host).value()); };
    CHECK(ask("example.org").reach == Reach::allowed);
    CHECK(mentions(ask("x.a.b:443").reason, "network.allowedDomains[1] \"*.a.b:443\" of /s.json"));
    CHECK(ask("x.a.b:80").reach == Reach::asked);
    CHECK(ask("bad.a.b:443").reach == Reach::denied);
    CHECK(explain_host(nullptr, parse_host_query("a.b").value()).reach == Reach::asked);
}
