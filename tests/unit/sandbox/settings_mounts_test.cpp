// What a settings file shows and hides. Each wall has its control: the same program on the same machine without the
// entry, or without a sandbox.

#include "settings_fixture.hpp"

using namespace cellgate;
using namespace cellgate::sandbox;
using namespace cellgate::sandbox::settings_fixture;

namespace fs = std::filesystem;

TEST_CASE("denyRead hides a file, a folder and what a pattern finds, and the control reads them") {
    struct Row {
        const char* entry;
        const char* path;
    };
    for (const Row& row : {Row{"data.txt", "data.txt"},
                           {"sub", "sub/deep/a.csv"},
                           {"sub/**", "sub/deep/a.csv"},
                           {"**/*.csv", "sub/deep/a.csv"},
                           {"sub/*/?.csv", "sub/deep/a.csv"},
                           {"./sub/[de]*p", "sub/deep/a.csv"},
                           {"link", "data.txt"},
                           {"link", "link"}}) {
        CAPTURE(row.entry);
        Machine machine;
        machine.write(machine.workspace / "sub/deep/a.csv", "1");
        machine.write(machine.workspace / "sub/other.txt", "1");
        fs::create_symlink("data.txt", machine.workspace / "link");
        const std::string attack = reads(machine.workspace / row.path);
        use(machine, Lists{});
        CHECK(works(machine, attack)); // the control
        use(machine, hiding(row.entry));
        CHECK_FALSE(works(machine, attack));
        CHECK_FALSE(works(machine, "os.rename(W + '/" + std::string(row.path) + "', W + '/moved') is None and " +
                                       reads(machine.workspace / "moved")));
        if (std::string_view(row.path).starts_with("sub")) {
            CHECK_FALSE(works(machine, "os.rename(W + '/sub', W + '/moved') is None and " +
                                           reads(machine.workspace / "moved/deep/a.csv")));
        }
    }
}

TEST_CASE("a wildcard is none in a literal entry, in lists of what can be written, and in the workspace's own path") {
    Machine machine("home/[w]*");
    machine.write(machine.workspace / "a*", "1");
    machine.write(machine.workspace / "ab", "1");
    Lists lists;
    lists.deny_read = R"([{"path": "a*", "literal": true}])";
    use(machine, lists);
    CHECK_FALSE(works(machine, reads(machine.workspace / "a*")));
    CHECK(works(machine, reads(machine.workspace / "ab")));
    use(machine, hiding("a?"));
    CHECK_FALSE(works(machine, reads(machine.workspace / "ab")));
    lists = {};
    lists.deny_write = R"(["a*", "a?"])";
    CHECK(mentions(notices(machine, lists), "denyWrite[1] \"a?\": nothing is guarded by it"));
    CHECK_FALSE(works(machine, writes(machine.workspace / "a*")));
    CHECK(works(machine, writes(machine.workspace / "ab")));
}

TEST_CASE("allowRead shows places outside read-only, without their secrets, and only them") {
    Machine machine;
    machine.write(machine.home / "set/a.csv", "1");
    machine.write(machine.home / "set/.env", "CANARY");
    machine.write(machine.home / "setting/b.csv", "1");
    fs::create_directory_symlink(machine.home / "set", machine.root / "way");
    CHECK_FALSE(works(machine, reads(machine.home / "set/a.csv"))); // the control
    for (const std::string& entry :
         {std::string("~/set"), std::string("~/set/**"), std::string("~/se[t]"), (machine.root / "way").string()}) {
        CAPTURE(entry);
        use(machine, reading(entry));
        CHECK(works(machine, reads(machine.home / "set/a.csv")));
        CHECK_FALSE(works(machine, writes(machine.home / "set/a.csv")));
        CHECK_FALSE(works(machine, reads(machine.home / "set/.env")));
        CHECK_FALSE(works(machine, reads(machine.home / "setting/b.csv")));
        CHECK_FALSE(works(machine, reads(machine.home / ".ssh/id_rsa")));
    }
    CHECK(works(machine, reads(machine.root / "way/a.csv")));
}

TEST_CASE("allowRead shows a secret only by its whole name, and read-only") {
    Machine machine;
    machine.write(machine.workspace / ".aws/credentials", "CANARY");
    machine.write(machine.workspace / ".aws/config", "CANARY");
    machine.write(machine.home / "other/.env", "CANARY");
    for (const char* entry : {".", "*", "**/.e*", "deploy", "deploy/secrets/*", "~/**/.env", "~/o*/.env", "~/.s*/*"}) {
        CAPTURE(entry);
        use(machine, reading(entry));
        CHECK_FALSE(works(machine, reads(machine.workspace / "deploy/secrets/prod")));
        CHECK_FALSE(works(machine, reads(machine.home / "other/.env")));
        CHECK_FALSE(works(machine, reads(machine.home / ".ssh/id_rsa")));
        CHECK_FALSE(works(machine, reads(machine.workspace / ".env")));
        CHECK_FALSE(works(machine, reads(machine.workspace / "deploy/.env.production")));
    }
    CHECK(mentions(notices(machine, reading("~/o*/.env")), "secrets that it matches stay hidden"));
    use(machine, reading(".env"));
    CHECK(works(machine, reads(machine.workspace / ".env")));
    CHECK_FALSE(works(machine, writes(machine.workspace / ".env")));
    CHECK_FALSE(works(machine, reads(machine.workspace / ".envrc")));
    use(machine, reading(".aws/config"));
    CHECK(works(machine, reads(machine.workspace / ".aws/config")));
    CHECK_FALSE(works(machine, reads(machine.workspace / ".aws/credentials")));
    CHECK_FALSE(works(machine, "os.listdir(W + '/.aws')"));
    use(machine, reading("~/other/.env"));
    CHECK(works(machine, reads(machine.home / "other/.env")));
    machine.write(machine.home / ".ssh/id_rsa.pub", "1");
    use(machine, reading("~/.ssh/*"));
    CHECK(works(machine, reads(machine.home / ".ssh/id_rsa.pub")));
    CHECK_FALSE(works(machine, reads(machine.home / ".ssh/id_rsa")));
    use(machine, reading("~/.ssh"));
    CHECK(works(machine, "os.listdir(H + '/.ssh')"));
    CHECK_FALSE(works(machine, reads(machine.home / ".ssh/id_rsa")));
}

TEST_CASE("the deeper entry for reading counts, and of two for one place the one that denies") {
    Machine machine;
    machine.write(machine.home / "set/a/b/c/d", "1");
    Lists lists;
    lists.deny_read = R"(["~/set/a", "~/set/a/b/c"])";
    lists.allow_read = R"(["~/set", "~/set/a/b"])";
    machine.write(machine.home / "set/1", "1");
    machine.write(machine.home / "set/a/2", "1");
    machine.write(machine.home / "set/a/b/3", "1");
    use(machine, lists);
    CHECK(works(machine, reads(machine.home / "set/1")));
    CHECK_FALSE(works(machine, reads(machine.home / "set/a/2")));
    CHECK(works(machine, reads(machine.home / "set/a/b/3")));
    CHECK_FALSE(works(machine, reads(machine.home / "set/a/b/c/d")));
    lists.deny_read = R"(["~/set"])";
    lists.allow_read = R"(["~/set"])";
    use(machine, lists);
    CHECK_FALSE(works(machine, reads(machine.home / "set/1")));
    // As srt's users write it: nothing of the home but the project.
    lists.deny_read = R"(["~"])";
    lists.allow_read = R"(["."])";
    use(machine, lists);
    CHECK(works(machine, reads(machine.workspace / "data.txt")));
    CHECK(works(machine, writes(machine.workspace / "data.txt")));
    CHECK_FALSE(works(machine, reads(machine.home / ".ssh/id_rsa")));
    // In the workspace, what is shown of something hidden can be written only if that is named too.
    machine.write(machine.workspace / "vault/open/x", "1");
    machine.write(machine.workspace / "vault/y", "1");
    lists.deny_read = R"(["vault"])";
    lists.allow_read = R"(["vault/open"])";
    use(machine, lists);
    CHECK(works(machine, reads(machine.workspace / "vault/open/x")));
    CHECK_FALSE(works(machine, reads(machine.workspace / "vault/y")));
    CHECK_FALSE(works(machine, writes(machine.workspace / "vault/open/x")));
    lists.allow_write = R"([".", "vault/open"])";
    use(machine, lists);
    CHECK(works(machine, writes(machine.workspace / "vault/open/x")));
    lists.deny_write = R"(["vault"])";
    use(machine, lists);
    CHECK_FALSE(works(machine, writes(machine.workspace / "vault/open/x")));
    CHECK(works(machine, writes(machine.workspace / "data.txt")));
}

TEST_CASE("only what allowWrite has can be written, the workspace too; denyWrite always counts") {
    Machine machine;
    machine.write(machine.workspace / "build/made", "1");
    machine.write(machine.workspace / "build/.vscode/tasks.json", "{}");
    machine.write(machine.home / "results/old", "1");
    machine.write(machine.home / "results/.git/config", "1");
    machine.write(machine.home / "results/keep/x", "1");
    machine.write(machine.home / "results/part/.vscode/tasks.json", "{}");
    const std::string in_workspace = writes(machine.workspace / "data.txt");
    CHECK(works(machine, in_workspace)); // the control
    Lists lists;
    lists.allow_write = "[]";
    CHECK(mentions(notices(machine, lists), "allowWrite does not have the workspace"));
    CHECK_FALSE(works(machine, in_workspace));
    CHECK(works(machine, reads(machine.workspace / "data.txt")));
    lists.allow_write = R"(["build", "~/results"])";
    lists.deny_write = R"(["~/results/keep"])";
    use(machine, lists);
    CHECK_FALSE(works(machine, in_workspace));
    CHECK(works(machine, writes(machine.workspace / "build/made")));
    CHECK_FALSE(works(machine, writes(machine.workspace / "build/.vscode/tasks.json")));
    CHECK(works(machine, writes(machine.home / "results/new")));
    CHECK_FALSE(works(machine, writes(machine.home / "results/.git/config")));
    CHECK_FALSE(works(machine, writes(machine.home / "results/keep/x")));
    CHECK_FALSE(works(machine, "os.rename(H + '/results/keep', H + '/results/k2') or True"));
    CHECK_FALSE(works(machine, "os.rename(H + '/results/part', H + '/results/p2') or True"));
    lists.deny_write = R"(["~"])";
    use(machine, lists);
    CHECK_FALSE(works(machine, writes(machine.workspace / "build/made")));
    CHECK_FALSE(works(machine, writes(machine.home / "results/new")));
    CHECK(works(machine, writes(machine.home / "private"))); // the sandbox's own home
    CHECK(machine.read(machine.home / "results/new") == "x");
    CHECK_FALSE(fs::exists(machine.home / "private"));
}

TEST_CASE("what would break a promise of the sandbox is refused") {
    Machine machine;
    machine.profile.hidden = {machine.home / ".local/state/cellgate"};
    machine.write(machine.home / ".local/state/cellgate/journal", "CANARY");
    const std::string address = machine.home / "bus";
    const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    address.copy(name.sun_path, sizeof name.sun_path - 1);
    REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
    for (const std::string& entry :
         {std::string("/"), std::string("~"), std::string("/run"), std::string("/sys"), std::string("/etc"),
          std::string("~/.local"), std::string("~/.local/state/cellgate/journal"), std::string("~/bus"),
          machine.root.string()}) {
        CAPTURE(entry);
        CHECK(mentions(refusal(machine, reading(entry)), "allowRead[0]"));
        CHECK(mentions(refusal(machine, writing(entry)), "allowWrite[1]"));
    }
    ::close(listener);
    for (const char* entry : {"/usr", "/usr/local/bin", "/etc/hosts", "/boot", "/opt"}) {
        if (fs::exists(entry)) {
            CAPTURE(entry);
            CHECK(mentions(refusal(machine, writing(entry)), "allowWrite[1]"));
        }
    }
    CHECK(mentions(refusal(machine, hiding(".")), "hides the workspace"));
    CHECK(mentions(refusal(machine,
                           [] {
                               Lists lists = hiding("~");
                               lists.allow_write = "[]";
                               return lists;
                           }()),
                   "hides the workspace"));
    CHECK(refusal(machine, reading("~/.ssh")) == ""); // a user's word
}

TEST_CASE("what is guarded stays guarded whatever allowWrite says, and a notice says so") {
    Machine machine;
    machine.write(machine.home / ".ipython/profile_default/startup/0.py", "user's");
    struct Row {
        const char* entry;
        fs::path path;
        const char* word;
    };
    for (const Row& row : {Row{".git/hooks", machine.workspace / ".git/hooks/pre-commit", "stays guarded"},
                           {".git", machine.workspace / ".git/config", "stays guarded"},
                           {".mcp.json", machine.workspace / ".mcp.json", "stays guarded"},
                           {".env", machine.workspace / ".env", "stays guarded"},
                           {"mcptools", machine.workspace / "mcptools/fs/read_file.py", "stays guarded"},
                           {"~/.bashrc", machine.home / ".bashrc", "stays guarded"},
                           {"~/.ssh", machine.home / ".ssh/authorized_keys", "stays guarded"},
                           {"~/.ipython", machine.home / ".ipython/profile_default/startup/0.py", "of its own"},
                           {"/tmp", "/tmp/cellgate-settings-test", "of its own"}}) {
        CAPTURE(row.entry);
        CHECK(mentions(notices(machine, writing(row.entry)), row.word));
        const std::string before = machine.read(row.path);
        works(machine,
              "os.makedirs(os.path.dirname(r'" + row.path.string() + "'), exist_ok=True) or " + writes(row.path));
        CHECK(machine.read(row.path) == before);
        CHECK((before.empty() ? !fs::exists(row.path) : true));
        CHECK(machine.python(Isolation::none, "T(lambda: " + writes(row.path) + ")").out.starts_with("ESCAPED"));
        CHECK(machine.read(row.path) == before + "x"); // the control
        if (before.empty()) {
            fs::remove(row.path);
        }
    }
    CHECK(mentions(notices(machine, writing("~/absent")), "skipped: it does not exist"));
    CHECK(mentions(notices(machine, reading("~/absent")), "skipped: it does not exist"));
}

TEST_CASE("a link that a cell puts in the place of what a settings file names shows nothing") {
    Machine machine;
    machine.write(machine.workspace / "results/x", "1");
    machine.write(machine.home / "papers/will", "CANARY");
    use(machine, writing("results"));
    CHECK(works(machine, "(os.rename(W + '/results', W + '/r2'), os.symlink(H + '/papers', W + '/results'), 1)[2]"));
    for (const Lists& lists : {writing("results"), reading("results"), reading("results/will")}) {
        CHECK(mentions(refusal(machine, lists), "goes through the link"));
    }
    CHECK(mentions(notices(machine, reading("result*")), "skipped"));
    CHECK_FALSE(works(machine, reads(machine.home / "papers/will")));
    CHECK(refusal(machine, hiding("results")) == "");
    CHECK_FALSE(works(machine, reads(machine.home / "papers/will")));
    CHECK(refusal(machine, reading("r2")) == ""); // the control
    use(machine, reading("~/papers"));
    CHECK(works(machine, reads(machine.workspace / "results/will")));
    // Nor to what is hidden in the workspace itself.
    machine.write(machine.workspace / "vault/y", "CANARY");
    fs::create_symlink(".env", machine.workspace / "public");
    fs::create_directory_symlink("vault/y", machine.workspace / "open");
    Lists lists = hiding("vault");
    for (const char* entry : {"public", "open"}) {
        lists.allow_read = std::string("[\"") + entry + "\"]";
        CHECK(mentions(refusal(machine, lists), "goes through the link"));
    }
    lists.allow_read = R"(["p*", "o*"])";
    use(machine, lists);
    CHECK_FALSE(works(machine, reads(machine.workspace / ".env")));
    CHECK_FALSE(works(machine, reads(machine.workspace / "vault/y")));
    lists.allow_read = R"([".env", "vault/y"])"; // the control
    use(machine, lists);
    CHECK(works(machine, reads(machine.workspace / ".env")));
    CHECK(works(machine, reads(machine.workspace / "vault/y")));
}

TEST_CASE("a folder that settings show and that is exchanged after it was planned is noticed") {
    for (const bool exchanged : {false, true}) { // the first is the control
        Machine machine;
        machine.write(machine.workspace / "vault/open/x", "1");
        Lists lists = hiding("vault");
        lists.allow_read = R"(["vault/open"])";
        use(machine, lists);
        async::Command command;
        command.argv = {"/usr/bin/touch", machine.workspace / "ran"};
        const std::unique_ptr<Launcher> launcher = make_launcher(Isolation::bwrap, machine.environment);
        const Launch launch = launcher->wrap(std::move(command), machine.profile);
        if (exchanged) {
            fs::rename(machine.workspace / "vault/open", machine.workspace / "aside");
            fs::create_directory_symlink(machine.home / ".ssh", machine.workspace / "vault/open");
        }
        const Ran ran = machine.start(*launcher, launch);
        CHECK_MESSAGE(ran.status.success() == !exchanged, ran.error);
        CHECK(fs::exists(machine.workspace / "ran") == !exchanged);
    }
}

TEST_CASE("the system and the interpreter stay readable, which is said; a part of them can be hidden") {
    Machine machine;
    machine.write(machine.home / "conda/lib/x.py", "1");
    machine.write(machine.home / "conda/notes.csv", "1");
    machine.profile.read_only = {machine.home / "conda"};
    Lists lists = hiding("/");
    lists.allow_read = R"(["."])";
    CHECK(mentions(notices(machine, lists), "stays readable"));
    CHECK(works(machine, reads(machine.home / "conda/lib/x.py")));
    lists = hiding("~");
    CHECK(mentions(notices(machine, lists), "conda stays readable"));
    CHECK(works(machine, reads(machine.home / "conda/lib/x.py")));
    lists = hiding("~");
    lists.allow_read = R"(["~/conda/lib"])";
    use(machine, lists);
    CHECK(works(machine, reads(machine.home / "conda/lib/x.py")));
    CHECK(mentions(notices(machine, hiding("~/**/*.csv")), "not looked for among the files of the system"));
    CHECK(works(machine, reads(machine.home / "conda/notes.csv")));
    use(machine, hiding("~/conda/notes.csv"));
    CHECK_FALSE(works(machine, reads(machine.home / "conda/notes.csv")));
    // Also where what shows it is hidden as a whole.
    lists = hiding("~/conda/..");
    lists.allow_read = R"(["."])";
    use(machine, lists);
    CHECK(works(machine, reads(machine.home / "conda/lib/x.py")));
}

TEST_CASE("the interpreter stays read-only in a place that can be written") {
    Machine machine;
    machine.write(machine.home / "tools/conda/lib/x.py", "1");
    machine.write(machine.home / "tools/free", "1");
    machine.profile.read_only = {machine.home / "tools/conda"};
    use(machine, writing("~/tools"));
    CHECK(works(machine, writes(machine.home / "tools/free")));
    CHECK_FALSE(works(machine, writes(machine.home / "tools/conda/lib/x.py")));
    CHECK_FALSE(works(machine, "os.rename(H + '/tools/conda', H + '/tools/c2') or True"));
}

TEST_CASE("a pattern that finds too much is an error, as what is not found would not be hidden") {
    Machine machine;
    for (int i = 0; i < 501; ++i) {
        machine.write(machine.workspace / "many" / (std::to_string(i) + ".csv"), "");
    }
    use(machine, hiding("many/*.csv"));
    CHECK_THROWS_AS(works(machine, "1"), Error);
    use(machine, hiding("many"));
    CHECK_FALSE(works(machine, reads(machine.workspace / "many/0.csv")));
}

TEST_CASE("a settings file where cells can write is kept from those of its session, and a notice says it") {
    Machine machine;
    machine.write(machine.workspace / "settings.json", "{}");
    Settings settings = parse_settings(R"({"network": {"allowedDomains": [], "deniedDomains": []},
        "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []}})",
                                       machine.workspace / "other.json");
    machine.write(machine.workspace / "other.json", "{}");
    machine.profile.settings = std::make_shared<const Settings>(settings);
    CHECK(works(machine, writes(machine.workspace / "settings.json"))); // the control
    settings.file = machine.workspace / "settings.json";
    machine.profile.settings = std::make_shared<const Settings>(settings);
    CHECK_FALSE(works(machine, writes(machine.workspace / "settings.json")));
    CHECK_FALSE(works(machine, "os.replace(W + '/other.json', W + '/settings.json') or True"));
}
