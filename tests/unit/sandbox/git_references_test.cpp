// The targets of protected names are protected as the names are: by links, by what git reads, under other names, and as
// sockets. Each attempt has its control: the same without a sandbox.

#include "base/unique_fd.hpp"
#include "machine.hpp"
#include "mounts/symlink_chain.hpp"
#include "sandbox/protected_files.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

// Each in a folder of its own in the workspace, or in the workspace itself, with a repository in it. The first is what
// a user has done before, the last what a user does, or looks at, afterwards: both by a shell outside. The last
// succeeds when the attempt did.
struct Attempt {
    const char* name;
    const char* before;
    const char* attempt;
    const char* after;
    bool alone = false; // in the workspace itself
};

constexpr const char* repository = R"sh(
git init -q repo; cd repo; mkdir scripts
git config user.email a@b; git config user.name a; git commit -q --allow-empty -m first
)sh";

constexpr Attempt attempts[] = {
    {"the configuration of a bare repository beside its worktrees", R"sh(
cd ..; git init -q src; git -C src -c user.email=a@b -c user.name=a commit -q --allow-empty -m first
git clone -q --bare src wt/.bare; echo "gitdir: ./.bare" > wt/.git; git -C wt worktree add -q main)sh",
     R"py(open("wt/.bare/config", "a").write(f'[core]\n fsmonitor = "touch {W}/evil; false"\n'))py",
     "git -C wt/main status; test -e evil"},
    {"a hook in such a repository", R"sh(
cd ..; git init -q src; git -C src -c user.email=a@b -c user.name=a commit -q --allow-empty -m first
git clone -q --bare src wt/.bare; echo "gitdir: ./.bare" > wt/.git; git -C wt worktree add -q main)sh",
     R"py(put("wt/.bare/hooks/pre-commit", EVIL))py",
     "git -C wt/main -c user.email=a@b -c user.name=a commit -q --allow-empty -m second; test -e evil"},
    {"a repository that a worktree is far from", R"sh(
cd ..; git init -q src; git -C src -c user.email=a@b -c user.name=a commit -q --allow-empty -m first
git clone -q --bare src store; git -C store worktree add -q ../far/away/main)sh",
     R"py(put("store/hooks/pre-commit", EVIL))py",
     "git -C far/away/main -c user.email=a@b -c user.name=a commit -q --allow-empty -m second; test -e evil"},
    {"a folder of a repository that .git is a link to",
     "cd ..; rm -rf repo; mkdir store; git init -q --separate-git-dir store/git repo; rm repo/.git; ln -s ../store/git "
     "repo/.git",
     R"py(put("store/git/hooks/pre-commit", EVIL))py",
     "git -C repo -c user.email=a@b -c user.name=a commit -q --allow-empty -m first; test -e evil"},
    {"a hook that is a link into the workspace",
     "printf '#!/bin/sh\\n' > scripts/hook; chmod +x scripts/hook; ln -s ../../scripts/hook .git/hooks/pre-commit",
     R"py(put("repo/scripts/hook", EVIL))py", "cd repo; git commit -q --allow-empty -m second; test -e ../evil"},
    {"a hook that is a link to what is not there", "ln -s ../../scripts/hook .git/hooks/pre-commit",
     R"py(put("repo/scripts/hook", EVIL))py", "cd repo; git commit -q --allow-empty -m second; test -e ../evil"},
    {"a folder of hooks that is a link", "mkdir tools; rm -rf .git/hooks; ln -s ../tools .git/hooks",
     R"py(put("repo/tools/pre-commit", EVIL))py", "cd repo; git commit -q --allow-empty -m second; test -e ../evil"},
    {"a folder of hooks that the configuration names", "mkdir tools; git config core.hooksPath tools",
     R"py(put("repo/tools/pre-commit", EVIL))py", "cd repo; git commit -q --allow-empty -m second; test -e ../evil"},
    {"such a folder that is not there", "git config core.hooksPath my/tools",
     R"py(os.makedirs("repo/my/tools"); put("repo/my/tools/pre-commit", EVIL))py",
     "cd repo; git commit -q --allow-empty -m second; test -e ../evil"},
    {"a folder of hooks by a usual name", "git config --file \"$HOME/.gitconfig\" core.hooksPath .githooks",
     R"py(os.makedirs("repo/.githooks"); put("repo/.githooks/pre-commit", EVIL))py",
     "cd repo; git commit -q --allow-empty -m second; test -e ../evil", true},
    {"a configuration that another includes", "touch team; git config include.path ../team",
     R"py(put("repo/team", f"[core]\n fsmonitor = \"touch {W}/evil; false\"\n"))py",
     "cd repo; git status; test -e ../evil"},
    {"one that is included by an included one, and not there",
     "git config include.path ../team; printf '[include]\\n path = conf/more # more\\n' > team",
     R"py(os.makedirs("repo/conf"); put("repo/conf/more", f"[core]\n fsmonitor = \"touch {W}/evil; false\"\n"))py",
     "cd repo; git status; test -e ../evil"},
    {"a script that the configuration names",
     "printf '#!/bin/sh\\n' > scripts/m; git config core.fsmonitor \"sh ./scripts/m\"",
     R"py(put("repo/scripts/m", EVIL))py", "cd repo; git status; test -e ../evil"},
    {"one that it names in quotes", "printf '#!/bin/sh\\n' > scripts/m; git config core.fsmonitor 'sh \"./scripts/m\"'",
     R"py(put("repo/scripts/m", EVIL))py", "cd repo; git status; test -e ../evil"},
    {"one in a value that goes on in the next line", R"sh(printf '#!/bin/sh\n' > scripts/m; chmod +x scripts/m
printf '[alias]\n x = "!true; \\\n [ -x scripts/m ] && scripts/m --a=b"\n' >> .git/config)sh",
     R"py(put("repo/scripts/m", EVIL))py", "cd repo; git x; test -e ../evil"},
    {"the target of a link, which is not there", "ln -s shared/vscode .vscode",
     R"py(os.makedirs("repo/shared/vscode"); put("repo/shared/vscode/tasks.json"))py",
     "test -e repo/.vscode/tasks.json"},
    {"a file that is the target of a link, and is not there", "mkdir conf; ln -s conf/mcp.json .mcp.json",
     R"py(put("repo/conf/mcp.json"))py", "test -e repo/.mcp.json"},
    {"the same, of a secret", "mkdir conf; ln -s conf/envrc .envrc", R"py(put("repo/conf/envrc"))py",
     "test -e repo/.envrc"},
    {"the same, in another case", "mkdir conf; ln -s CONF/envrc .envrc; ln -s conf CONF",
     R"py(put("repo/conf/envrc"))py", "test -e repo/.envrc"},
    {"the same, by an absolute link and links on the way",
     "mkdir a; ln -s \"$PWD/first/x\" .vscode; ln -s a first; ln -s ../b/c a/x",
     R"py(os.makedirs("repo/b/c"); put("repo/b/c/tasks.json"))py", "test -e repo/.vscode/tasks.json"},
    {"the same, by a folder that is moved there", "ln -s shared/vscode .vscode",
     R"py(os.makedirs("repo/x/vscode"); put("repo/x/vscode/tasks.json"); os.rename("repo/x", "repo/shared"))py",
     "test -e repo/.vscode/tasks.json"},
    {"the same, by a link that is put there", "ln -s shared/vscode .vscode",
     R"py(os.makedirs("repo/x/vscode"); put("repo/x/vscode/tasks.json"); os.symlink("x", "repo/shared"))py",
     "test -e repo/.vscode/tasks.json"},
    {"the same, by moving away what a folder on the way is", "mkdir -p shared/a; ln -s shared/a/vscode .vscode",
     R"py(
os.makedirs("repo/x/a/vscode"); put("repo/x/a/vscode/tasks.json"); os.rename("repo/shared", "repo/y")
os.rename("repo/x", "repo/shared"))py",
     "test -e repo/.vscode/tasks.json"},
    {"the same, by exchanging it", "mkdir -p shared/a; ln -s shared/a/vscode .vscode", R"py(
os.makedirs("repo/x/a/vscode"); put("repo/x/a/vscode/tasks.json")
if libc.renameat2(-100, b"repo/x", -100, b"repo/shared", 2) != 0: raise OSError("exchange"))py",
     "test -e repo/.vscode/tasks.json"},
    {"the same, where the way goes up again", "mkdir b; ln -s a/../b/vscode .vscode",
     R"py(os.makedirs("repo/a"); os.makedirs("repo/b/vscode"); put("repo/b/vscode/tasks.json"))py",
     "test -e repo/.vscode/tasks.json"},
    {"a link on the way",
     "mkdir -p releases/1/claude; echo x > releases/1/claude/settings.json; ln -s releases/1 current; ln -s "
     "current/claude .claude",
     R"py(os.unlink("repo/current"); os.makedirs("repo/current/claude"); put("repo/current/claude/settings.json"))py",
     "grep EVIL repo/.claude/settings.json"},
    {"a link on the way, by moving another over it",
     "mkdir -p releases/1/claude; echo x > releases/1/claude/settings.json; ln -s releases/1 current; ln -s "
     "current/claude .claude",
     R"py(
os.makedirs("repo/x/claude"); put("repo/x/claude/settings.json"); os.symlink("x", "repo/y")
os.rename("repo/y", "repo/current"))py",
     "grep EVIL repo/.claude/settings.json"},
    {"the target of a link on the way",
     "mkdir -p releases/1/claude; echo x > releases/1/claude/settings.json; ln -s releases/1 current; ln -s "
     "current/claude .claude",
     R"py(put("repo/releases/1/claude/settings.json"))py", "grep EVIL repo/.claude/settings.json"},
    {"the target of a link in a protected folder",
     "mkdir .vscode shared; touch shared/t; ln -s ../shared/t .vscode/tasks.json", R"py(put("repo/shared/t"))py",
     "grep EVIL repo/.vscode/tasks.json"},
    {"the target of a link in the target of a link", "mkdir a b; ln -s a .vscode; ln -s ../b/t a/tasks.json",
     R"py(put("repo/b/t"))py", "grep EVIL repo/.vscode/tasks.json"},
    {"the wrappers of tools that mcptools is a link to",
     "cd ..; rm -rf mcptools; mkdir -p tools/gen; touch tools/gen/x.py; ln -s tools/gen mcptools",
     R"py(put("tools/gen/x.py"))py", "grep EVIL mcptools/x.py", true},
    {"the link itself", "cd ..; rm -rf mcptools; mkdir -p tools/gen; touch tools/gen/x.py; ln -s tools/gen mcptools",
     R"py(os.unlink("mcptools"); os.makedirs("mcptools"); put("mcptools/x.py"))py", "grep EVIL mcptools/x.py", true},
    {"another name of a guarded file", "echo x > .mcp.json; ln .mcp.json other.json", R"py(put("repo/other.json"))py",
     "grep EVIL repo/.mcp.json"},
    {"another name of a file in a guarded folder",
     "mkdir .vscode; echo x > .vscode/tasks.json; ln .vscode/tasks.json t", R"py(put("repo/t"))py",
     "grep EVIL repo/.vscode/tasks.json"},
    {"another name of a secret, to read it", "echo CANARY > .env; mkdir a; ln .env a/notes.txt",
     R"py(print("READ" + NUMBER + "." if "CANARY" in open("repo/a/notes.txt").read() else "empty"))py",
     "grep READ$NUMBER[.] \"$OUT\""},
    {"another name of the target of a secret's link", "echo CANARY > s; ln -s s .env; ln s notes.txt",
     R"py(print("READ" + NUMBER + "." if "CANARY" in open("repo/notes.txt").read() else "empty"))py",
     "grep READ$NUMBER[.] \"$OUT\""},
    {"another name of a file in a folder of secrets", "mkdir .aws; echo CANARY > .aws/c; ln .aws/c notes.txt",
     R"py(print("READ" + NUMBER + "." if "CANARY" in open("repo/notes.txt").read() else "empty"))py",
     "grep READ$NUMBER[.] \"$OUT\""},
    {"another name of a secret in a folder that is not searched",
     "echo CANARY > .env; mkdir node_modules; ln .env node_modules/x",
     R"py(print("READ" + NUMBER + "." if "CANARY" in open("repo/node_modules/x").read() else "empty"))py",
     "grep READ$NUMBER[.] \"$OUT\""},
    {"a name in the workspace of a secret at home", "ln \"$HOME/.ssh/id_rsa\" notes.txt",
     R"py(print("READ" + NUMBER + "." if "CANARY" in open("repo/notes.txt").read() else "empty"))py",
     "grep READ$NUMBER[.] \"$OUT\"", true},
    {"a socket of a guarded name", "true", R"py(socket.socket(socket.AF_UNIX).bind("repo/.vscode"))py",
     "test -e repo/.vscode"},
    {"a socket of a guarded name, by its whole path", "true",
     R"py(socket.socket(socket.AF_UNIX).bind(W + "/repo/.mcp.json"))py", "test -e repo/.mcp.json"},
    {"a socket of a guarded name, through what /proc has of the caller", "true",
     R"py(os.chdir("repo"); socket.socket(socket.AF_UNIX).bind("/proc/self/cwd/.mcp.json"))py",
     "test -e repo/.mcp.json"},
    {"a datagram's socket of a guarded name", "true",
     R"py(socket.socketpair(); os.chdir("repo"); socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind(".Git"))py",
     "test -e repo/.Git"},
    {"a socket at the target of a link", "ln -s shared .vscode",
     R"py(socket.socket(socket.AF_UNIX).bind("repo/shared"))py", "test -e repo/.vscode"},
    {"the configuration of Mercurial", "mkdir .hg", R"py(put("repo/.hg/hgrc"))py", "test -e repo/.hg/hgrc"},
    {"a workspace of an editor's", "true", R"py(put("repo/My.code-workspace"))py", "test -e repo/My.code-workspace"},
    {"an existing one", "touch my.code-workspace", R"py(put("repo/my.code-workspace"))py",
     "grep EVIL repo/my.code-workspace"},
    {"what agents start", "true", R"py(os.mkdir("repo/.gemini"); put("repo/.gemini/settings.json"))py",
     "test -e repo/.gemini/settings.json"},
    {"what a package manager runs", "true", R"py(put("repo/.yarnrc.yml"))py", "test -e repo/.yarnrc.yml"},
    {"what R runs, whose name has capitals", "touch .Rprofile", R"py(put("repo/.Rprofile"))py",
     "grep EVIL repo/.Rprofile"},
    {"a device in the place of what is moved", "touch x",
     R"py(
if libc.renameat2(-100, b"repo/x", -100, b"repo/y", 4) != 0: raise OSError(ctypes.get_errno(), "whiteout"))py",
     "test -c repo/x"},
};

constexpr const char* prelude = R"py(
os.chdir(W)
def put(path, text="EVIL"):
    with open(path, "w") as file: file.write(text)
    os.chmod(path, 0o755)
def make(number):
    names = dict(globals(), NUMBER=number, W=os.environ["FOLDER" + number])
    names["EVIL"] = "#!/bin/sh\ntouch " + names["W"] + "/evil\n"
    os.chdir(names["W"])
    try: exec(os.environ["ATTEMPT" + number], names)
    except OSError as error: print("ended" + number + ".", error)
)py";

const char* name_of(Isolation isolation) {
    return isolation == Isolation::none ? "none" : isolation == Isolation::bwrap ? "bwrap" : "landlock";
}

bool succeeds(Machine& machine, const std::string& script, const std::string& folder = {},
              const std::string& number = {}) {
    async::Command command;
    command.argv = {"/bin/sh", "-c", script};
    command.cwd = folder.empty() ? machine.workspace.string() : folder;
    command.environment = {{"HOME", machine.home},
                           {"PATH", "/usr/bin:/bin"},
                           {"GIT_CONFIG_NOSYSTEM", "1"},
                           {"NUMBER", number},
                           {"OUT", (machine.root / "out").string()}};
    return machine.run(Isolation::none, std::move(command)).status.success();
}

void make(const std::vector<Attempt>& made, Isolation isolation) {
    Machine machine;
    std::string program = prelude;
    const auto number = [](std::size_t i) { return std::to_string(i); };
    const auto folder = [&](std::size_t i) {
        return (made[i].alone ? machine.workspace : machine.workspace / ("attempt" + number(i))).string();
    };
    for (std::size_t i = 0; i < made.size(); ++i) {
        fs::create_directories(folder(i));
        REQUIRE_MESSAGE(succeeds(machine, fmt::format("set -e\n{}\n{}", repository, made[i].before), folder(i)),
                        std::string(made[i].name));
        machine.variables.insert({{"ATTEMPT" + number(i), made[i].attempt}, {"FOLDER" + number(i), folder(i)}});
        program += fmt::format("make('{}')\n", i);
    }
    const Ran ran = machine.python(isolation, program);
    CHECK_MESSAGE(ran.status.success(), ran.error);
    machine.write(machine.root / "out", ran.out);
    for (std::size_t i = 0; i < made.size(); ++i) {
        CAPTURE(std::string(made[i].name));
        const bool takes_a_right = std::string_view(made[i].after) == "test -c repo/x" && ::geteuid() != 0;
        const bool escaped = succeeds(machine, made[i].after, folder(i), number(i));
        const bool ended = ran.out.find("ended" + number(i) + ".") != std::string::npos;
        CAPTURE(std::string(name_of(isolation)));
        if (isolation == Isolation::none) {
            CHECK_MESSAGE((escaped || takes_a_right), ran.out, ran.error);
        } else {
            CHECK_MESSAGE((!escaped && ended), ran.out, ran.error);
        }
    }
}

} // namespace

TEST_CASE("the targets of protected names are protected as they are") {
    std::vector<std::vector<Attempt>> groups = {{}};
    for (const Attempt& attempt : attempts) {
        if (attempt.alone) {
            groups.push_back({attempt});
        } else {
            groups.front().push_back(attempt);
        }
    }
    for (const std::vector<Attempt>& group : groups) {
        for (const Isolation isolation : {Isolation::none, Isolation::bwrap, Isolation::landlock}) {
            make(group, isolation);
        }
    }
}

TEST_CASE("code can work around the targets of protected names") {
    Machine machine;
    REQUIRE(succeeds(machine, R"sh(set -e
mkdir -p releases/1/claude conf; ln -s releases/1 current; ln -s current/claude .claude
ln -s conf/mcp.json part/.mcp.json; ln -s new/folder/vscode .vscode; ln -s ../conf/mcp.json part/x
git init -q repo; git -C repo config alias.st status; touch repo/status.py
git -C repo config remote.origin.url ../origin; mkdir origin; git -C repo config branch.main.remote origin)sh"));
    for (const Isolation isolation : {Isolation::bwrap, Isolation::landlock}) {
        const Ran ran = machine.python(isolation, std::string(prelude) + R"py(
import shutil
os.makedirs("new/folder"); put("new/folder/file"); put("new/file"); os.rename("new/file", "new/moved"); shutil.rmtree("new/folder")
put("conf/other"); os.open("conf", os.O_TMPFILE | os.O_RDWR); os.open(".", os.O_TMPFILE | os.O_RDWR); os.unlink("conf/other")
put("releases/1/file"); os.mkdir("releases/2"); put("releases/2/file"); os.rename("releases/2", "releases/3")
put("current/other"); put("repo/status.py"); put("origin/file"); put("package.json"); put("Makefile"); put(".gitignore")
shutil.rmtree("releases/3"); os.unlink("current/other"); os.unlink("releases/1/file"); os.unlink("new/moved"); os.rmdir("new")
print("worked")
)py");
        CHECK_MESSAGE(ran.out == "worked\n", std::string(name_of(isolation)), " ", ran.error);
    }
}

TEST_CASE("the target of a protected name in one folder is protected in another that settings show for writing") {
    for (const Isolation isolation : {Isolation::none, Isolation::bwrap, Isolation::landlock}) {
        Machine machine;
        machine.write(machine.home / "shown/there/tasks.json", "user's");
        fs::create_symlink(machine.home / "shown/there", machine.workspace / ".vscode");
        fs::create_symlink(machine.home / "shown/missing", machine.workspace / ".idea");
        machine.profile.settings = with_additions(nullptr, Additions{{}, {machine.home / "shown"}, false});
        const Ran ran = machine.python(isolation, R"py(
for path in ("/shown/file", "/shown/there/tasks.json", "/shown/there/new", "/shown/missing"):
    try: open(H + path, "w"); print("written")
    except OSError as error: print("held")
)py");
        const char* expected =
            isolation == Isolation::none ? "written\nwritten\nwritten\nwritten\n" : "written\nheld\nheld\nheld\n";
        CHECK_MESSAGE(ran.out == expected, std::string(name_of(isolation)), " ", ran.out, ran.error);
    }
}

TEST_CASE("a trail has all that it goes through") {
    Machine machine;
    const std::string w = fs::canonical(machine.workspace);
    fs::create_symlink("part/way", machine.workspace / "one");
    fs::create_symlink(w + "/data.txt", machine.workspace / "part/way");
    fs::create_symlink("self", machine.workspace / "self");
    const SymlinkChain through = resolve_symlinks(w, "one");
    CHECK(through.links ==
          std::vector<SymlinkChain::Link>{{w + "/one", "part/way"}, {w + "/part/way", w + "/data.txt"}});
    CHECK(through.end == w + "/data.txt");
    CHECK(through.missing.empty());
    CHECK(resolve_symlinks(w, "part/./none//a/../b").missing == w + "/part/none");
    CHECK(resolve_symlinks(w, "part/none//a/./b").missing == w + "/part/none/a/b");
    CHECK(resolve_symlinks(w, "data.txt/x").missing == w + "/data.txt/x");
    CHECK(resolve_symlinks(w, "data.txt/x").error == ENOTDIR);
    CHECK(resolve_symlinks(w, "none").error == ENOENT);
    const SymlinkChain loop = resolve_symlinks(w, "self");
    CHECK((loop.end.empty() && loop.missing.empty() && loop.links.front().first == w + "/self"));
    CHECK(loop.error == ELOOP);
}
