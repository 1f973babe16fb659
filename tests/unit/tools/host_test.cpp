#include "sandbox/protected_files.hpp"
#include "tools_fixture.hpp"
#include "workspace_files.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace tools_fixture;
using tools::WorkspaceFiles;

namespace {

struct Workspace {
    Workspace() : path(folder.path / "ws") {
        fs::create_directory(path);
        write_text(folder.path / "outside.txt", "outside");
        write_text(path / "a.txt", "inside");
        fs::create_directory(path / "sub");
    }
    WorkspaceFiles files() const { return WorkspaceFiles(path); }

    TempFolder folder;
    fs::path path;
};

// "denied", "failed" with why, or "done".
template <class Work>
std::string outcome(Work work) {
    try {
        work();
    } catch (const Error& error) {
        return (error.code == ErrorCode::denied ? "denied: " : "failed: ") + error.message;
    }
    return "done";
}

std::string read(const Workspace& workspace, const std::string& path) {
    return outcome([&] { workspace.files().read_text(path); });
}

std::string write(const Workspace& workspace, const std::string& path) {
    return outcome([&] { workspace.files().write(path, "x"); });
}

} // namespace

TEST_CASE("files are read and written in the workspace, by relative and by absolute paths") {
    Workspace workspace;
    CHECK(workspace.files().read_text("a.txt") == "inside");
    CHECK(workspace.files().read_text(workspace.path / "a.txt") == "inside");
    CHECK(workspace.files().read_text("sub/../a.txt") == "inside");
    CHECK(workspace.files().write("sub/new.txt", "ä\n"));
    CHECK(read_text(workspace.path / "sub/new.txt") == "ä\n");
    CHECK_FALSE(workspace.files().write("sub/new.txt", ""));
    CHECK(read_text(workspace.path / "sub/new.txt").empty());
    const std::vector<tools::DirectoryEntry> entries = workspace.files().list(".");
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].name == "a.txt");
    CHECK(entries[0].size == 6);
    CHECK(entries[1].type == "directory");
}

TEST_CASE("no path leads out of the workspace") {
    Workspace workspace;
    const fs::path outside = workspace.folder.path / "outside.txt";
    fs::create_symlink(outside, workspace.path / "link");
    fs::create_symlink("../outside.txt", workspace.path / "relative_link");
    fs::create_directory_symlink("..", workspace.path / "up");
    fs::create_directory_symlink("up", workspace.path / "up_by_two");
    fs::create_symlink("/proc/self/root" + outside.string(), workspace.path / "magic");
    for (const std::string& path :
         {outside.string(), std::string("../outside.txt"), std::string("sub/../../outside.txt"), std::string("link"),
          std::string("relative_link"), std::string("up/outside.txt"), std::string("up_by_two/outside.txt"),
          std::string("magic"), workspace.path.string() + "/../outside.txt",
          workspace.path.string() + "/up/outside.txt"}) {
        CAPTURE(path);
        // The control: without the guard it would be read.
        CHECK(read_text(workspace.path / path) == "outside");
        CHECK_MESSAGE(read(workspace, path).starts_with("denied"), read(workspace, path));
        CHECK(write(workspace, path).starts_with("denied"));
        CHECK(read_text(outside) == "outside");
    }
    CHECK(outcome([&] { workspace.files().list("up"); }).starts_with("denied"));
    CHECK(outcome([&] { workspace.files().open_directory(".."); }).starts_with("denied"));
    CHECK(read(workspace, workspace.path.string() + "-other/x").starts_with("denied"));
    CHECK(read(workspace, std::string("a.txt\0.png", 10)).starts_with("denied"));
}

TEST_CASE("secrets are not read, through links neither") {
    Workspace workspace;
    const fs::path& path = workspace.path;
    for (const char* secret :
         {".env", ".env.local", "sub/.env", "server.pem", "id_rsa", ".ssh/config", "deep/.aws/credentials"}) {
        CAPTURE(secret);
        write_text(path / secret, "secret");
        CHECK(read(workspace, secret).starts_with("denied"));
        const fs::path symbolic = path / "symbolic.txt";
        fs::create_symlink(secret, symbolic);
        CHECK(read_text(symbolic) == "secret"); // the control
        CHECK(read(workspace, "symbolic.txt").starts_with("denied"));
        fs::remove(symbolic);
        CHECK(write(workspace, secret).starts_with("denied"));
    }
    CHECK(outcome([&] { workspace.files().list(".ssh"); }).starts_with("denied"));
    fs::create_directory_symlink(".ssh", path / "keys");
    CHECK(outcome([&] { workspace.files().list("keys"); }).starts_with("denied"));
    // Other files with several names, and examples, are read.
    fs::create_hard_link(path / "a.txt", path / "b.txt");
    CHECK(read(workspace, "b.txt") == "done");
    write_text(path / ".env.example", "A=");
    CHECK(read(workspace, ".env.example") == "done");
}

TEST_CASE("a read looks at the names of its own path only, however much else there is") {
    Workspace workspace;
    write_text(workspace.path / "many/0", "x");
    for (int i = 1; i < 201'000; ++i) {
        // A file takes some ten thousand links.
        const int base = i - i % 20'000;
        if (i == base) {
            write_text(workspace.path / "many" / std::to_string(i), "x");
        } else {
            fs::create_hard_link(workspace.path / "many" / std::to_string(base),
                                 workspace.path / "many" / std::to_string(i));
        }
    }
    CHECK_THROWS_AS(sandbox::find_protected_files(workspace.path), Error); // the control: a search fails
    CHECK(read(workspace, "a.txt") == "done");
    write_text(workspace.path / "many/.env", "secret");
    CHECK(read(workspace, "many/.env").starts_with("denied"));
}

TEST_CASE("a protected name that is a link does not resolve") {
    Workspace workspace;
    const fs::path& path = workspace.path;
    write_text(path / "config/dev_settings", "secret");
    write_text(path / "config/keys/one", "secret");
    fs::create_symlink("config/dev_settings", path / ".env");
    fs::create_directory_symlink("config/keys", path / ".ssh");
    for (const char* name : {".env", "config/../.env", ".ssh/one"}) {
        CAPTURE(name);
        CHECK(read_text(path / name) == "secret"); // the control
        CHECK_MESSAGE(read(workspace, name).starts_with("denied"), read(workspace, name));
    }
    CHECK(outcome([&] { workspace.files().list(".ssh"); }).starts_with("denied"));
    write_text(path / "config/other", "");
    CHECK(read(workspace, "config/other") == "done");

    fs::create_directory(path / "editor");
    fs::create_directory_symlink("editor", path / ".vscode");
    CHECK(fs::is_directory(path / ".vscode")); // the control
    CHECK_MESSAGE(write(workspace, ".vscode/tasks.json").starts_with("denied"), write(workspace, ".vscode/tasks.json"));
    CHECK(write(workspace, ".ssh/two").starts_with("denied"));
    CHECK(fs::is_empty(path / "editor"));
}

TEST_CASE("what runs or is obeyed outside the sandbox is not written under any name") {
    Workspace workspace;
    const fs::path& path = workspace.path;
    fs::create_directories(path / ".git/hooks");
    fs::create_directories(path / ".vscode");
    fs::create_directories(path / "mcptools/x");
    fs::create_directories(path / "venv/bin");
    write_text(path / "venv/pyvenv.cfg", "");
    write_text(path / ".git/config", "[core]");
    fs::create_directory_symlink(".git/hooks", path / "innocent");
    fs::create_directory_symlink("venv/bin", path / "programs");
    fs::create_symlink(".git/config", path / "config.txt");
    for (const char* name : {".git/hooks/pre-commit", ".git/config", ".vscode/tasks.json", ".envrc", ".mcp.json",
                             ".gitmodules", "sub/.envrc", "innocent/pre-commit", "config.txt", "mcptools/x/y.py",
                             "mcptools", "venv/bin/python", "programs/python", "sub/../.git/hooks/x", "./.mcp.json"}) {
        CAPTURE(name);
        CHECK_MESSAGE(write(workspace, name).starts_with("denied"), write(workspace, name));
    }
    CHECK(read_text(path / ".git/config") == "[core]");
    CHECK(fs::is_symlink(path / "config.txt"));
    CHECK(fs::is_empty(path / ".git/hooks"));
    CHECK(fs::is_empty(path / "venv/bin"));
    CHECK(write(workspace, "sub/hooks") == "done");
    CHECK(read(workspace, ".git/config") == "done"); // reading is another matter
}

TEST_CASE("what fails says what was found") {
    Workspace workspace;
    const fs::path& path = workspace.path;
    CHECK(has(read(workspace, "none"), "failed: none: No such file"));
    CHECK(has(read(workspace, "sub"), "expected a file, found a directory"));
    CHECK(has(write(workspace, "none/x"), "No such file"));
    CHECK(has(write(workspace, "sub"), "expected a file, found a directory"));
    CHECK(has(write(workspace, "sub/"), "the name of a file"));
    CHECK(has(write(workspace, "."), "the name of a file"));
    CHECK(has(write(workspace, ".."), "the name of a file"));
    REQUIRE(::mkfifo((path / "fifo").c_str(), 0600) == 0); // reading it would wait for ever
    CHECK(has(read(workspace, "fifo"), "found a other"));
    CHECK(has(write(workspace, "fifo"), "found a other"));
    write_text(path / "binary", std::string("\xff\x00", 2));
    CHECK(has(read(workspace, "binary"), "expected text in UTF-8"));
    write_text(path / "large", "");
    fs::resize_file(path / "large", WorkspaceFiles::max_file_bytes + 1);
    CHECK(has(read(workspace, "large"), "expected at most"));
    CHECK(has(outcome([&] { workspace.files().list("a.txt"); }), "Not a directory"));
}

TEST_CASE("a write keeps the mode, replaces whole files, and leaves nothing beside them") {
    Workspace workspace;
    const fs::path& path = workspace.path;
    fs::permissions(path / "a.txt", fs::perms::owner_all);
    fs::create_hard_link(path / "a.txt", path / "other_name.txt");
    CHECK(write(workspace, "a.txt") == "done");
    CHECK(fs::status(path / "a.txt").permissions() == fs::perms::owner_all);
    CHECK(read_text(path / "other_name.txt") == "inside"); // another file now
    if (::geteuid() != 0) {
        fs::permissions(path / "sub", fs::perms::owner_read | fs::perms::owner_exec);
        CHECK(write(workspace, "sub/x").starts_with("failed"));
        fs::permissions(path / "sub", fs::perms::owner_all);
    }
    CHECK(write(workspace, std::string(255, 'n')) == "done");
    CHECK(write(workspace, std::string(256, 'n')).starts_with("failed"));
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
        CHECK_FALSE(entry.path().filename().string().starts_with(".cellgate-"));
    }
}

TEST_CASE("a directory that is swapped for a link while it is used never leads outside") {
    Workspace workspace;
    const fs::path& path = workspace.path;
    fs::create_directory(workspace.folder.path / "victim");
    write_text(workspace.folder.path / "victim/f", "outside");
    fs::create_directory(path / "d");
    write_text(path / "d/f", "inside");
    fs::create_directory_symlink("../victim", path / "l");
    std::atomic<bool> stop = false;
    std::thread swapper([&] {
        const int root = ::open(path.c_str(), O_PATH | O_DIRECTORY);
        while (!stop) {
            ::renameat2(root, "d", root, "l", RENAME_EXCHANGE);
        }
        ::close(root);
    });
    const WorkspaceFiles files = workspace.files();
    int inside = 0;
    bool naive_escaped = false;
    for (int turn = 0; turn < 20'000 && (turn < 2'000 || !naive_escaped || inside == 0); ++turn) {
        naive_escaped = naive_escaped || read_text(path / "d/f") == "outside"; // the control
        try {
            const std::string text = files.read_text("d/f");
            CHECK(text == "inside");
            ++inside;
        } catch (const Error&) {
        }
        try {
            files.write("d/f", "inside");
        } catch (const Error&) {
        }
    }
    stop = true;
    swapper.join();
    CHECK(naive_escaped);
    CHECK(inside > 0);
    CHECK(read_text(workspace.folder.path / "victim/f") == "outside");
}

// ---- As a tool server -----------------------------------------------------------------------------------------------

namespace {

Task<void> call_files(Fixture* fixture) {
    write_text(fixture->workspace / "a.txt", "hello");
    const auto text = co_await fixture->call("host", "read_file", R"({"path":"a.txt"})");
    CHECK(text->text() == "hello");
    CHECK(text->result->structured_content->text() == R"({"content":"hello"})");
    CHECK(fixture->user->requested.back().action.kind == protocol::ActionKind::host);

    const auto list = co_await fixture->call("host", "list_directory", R"({"path":"."})");
    CHECK(list->result->structured_content->text() == R"({"entries":[{"name":"a.txt","type":"file","size":5}]})");

    const auto written = co_await fixture->call("host", "write_file", R"({"path":"b.txt","content":"\u00e4\u0000"})");
    CHECK(written->result->structured_content->text() == R"({"bytes":3,"created":true})");
    CHECK(read_text(fixture->workspace / "b.txt") == std::string("ä\0", 3));

    const auto missing = co_await fixture->call("host", "read_file", R"({"path":"none"})");
    REQUIRE(missing->result);
    CHECK(missing->result->is_error == true);
    CHECK(has(missing->text(), "No such file"));

    const auto unknown = co_await fixture->call("host", "delete_file", "{}");
    CHECK(unknown->code() == ErrorCode::tool_not_found);
    const auto wrong = co_await fixture->call("host", "write_file", R"({"path":"b.txt"})");
    CHECK(wrong->code() == ErrorCode::arguments_invalid);
}

Task<void> call_refused(Fixture* fixture) {
    write_text(fixture->workspace / ".env", "A=1");
    for (const auto& [tool, arguments] :
         std::vector<std::pair<std::string, std::string>>{{"read_file", R"({"path":".env"})"},
                                                          {"read_file", R"({"path":"/etc/passwd"})"},
                                                          {"list_directory", R"({"path":".."})"},
                                                          {"write_file", R"({"path":".mcp.json","content":""})"},
                                                          {"run_command", R"({"argv":["true"],"cwd":"/"})"}}) {
        const auto refused = co_await fixture->call("host", tool, arguments);
        CHECK_MESSAGE(refused->code() == ErrorCode::denied, refused->text());
    }
    CHECK(fixture->user->requested.empty());
}

Task<void> call_write_denied(Fixture* fixture) {
    fixture->user->answer = [fixture](const protocol::Approval& approval) { fixture->user->deny(approval); };
    const auto denied = co_await fixture->call("host", "write_file", R"({"path":"b.txt","content":"x"})");
    CHECK(denied->code() == ErrorCode::denied);
    CHECK(denied->error->message == "not today");
    CHECK_FALSE(fs::exists(fixture->workspace / "b.txt"));
}

Task<void> call_write_edited(Fixture* fixture) {
    fixture->user->answer = [fixture](const protocol::Approval& approval) {
        fixture->user->respond(approval, protocol::Verdict::allow, RawJson::parse(R"({"path":"c.txt","content":"y"})"));
    };
    const auto edited = co_await fixture->call("host", "write_file", R"({"path":"b.txt","content":"x"})");
    CHECK(edited->result);
    CHECK_FALSE(fs::exists(fixture->workspace / "b.txt"));
    CHECK(read_text(fixture->workspace / "c.txt") == "y");
    // An edit is checked like a call of the code.
    fixture->user->answer = [fixture](const protocol::Approval& approval) {
        fixture->user->respond(approval, protocol::Verdict::allow,
                               RawJson::parse(R"({"path":".envrc","content":"y"})"));
    };
    const auto refused = co_await fixture->call("host", "write_file", R"({"path":"b.txt","content":"x"})");
    CHECK(refused->code() == ErrorCode::denied);
    CHECK_FALSE(fs::exists(fixture->workspace / ".envrc"));
}

Task<void> call_commands(Fixture* fixture) {
    fs::create_directory(fixture->workspace / "sub");
    const auto ran = co_await fixture->call(
        "host", "run_command",
        R"({"argv":["sh","-c","pwd; echo $1; echo err >&2; exit 3","sh","$HOME; x"],"cwd":"sub"})");
    REQUIRE_MESSAGE(ran->result, ran->text());
    const Json result = ran->result->structured_content->value();
    CHECK(result["exitCode"] == 3);
    CHECK(result["stdout"] == (fixture->workspace / "sub").string() + "\n$HOME; x\n");
    CHECK(result["stderr"] == "err\n");
    CHECK(result["timedOut"] == false);

    const auto environment = co_await fixture->call("host", "run_command", R"({"argv":["env"]})");
    const std::string names = environment->result->structured_content->value()["stdout"];
    CHECK(has(names, "HOME="));
    CHECK_FALSE(has(names, "SECRET_OF_OURS"));

    const auto missing = co_await fixture->call("host", "run_command", R"({"argv":["no-such-program"]})");
    CHECK(missing->result->is_error == true);
    CHECK(has(missing->text(), "no-such-program"));

    const auto large = co_await fixture->call("host", "run_command", R"({"argv":["head","-c","3000000","/dev/zero"]})");
    const Json truncated = large->result->structured_content->value();
    CHECK(truncated["truncated"] == true);
    CHECK(truncated["stdout"].get<std::string>().size() == 1 << 20);

    const auto reads_stdin = co_await fixture->call("host", "run_command", R"({"argv":["cat"]})");
    CHECK(reads_stdin->result->structured_content->value()["exitCode"] == 0);

    const auto slow = co_await fixture->call("host", "run_command",
                                             R"({"argv":["sh","-c","echo begun; sleep 1000"],"timeoutSeconds":0.3})");
    const Json timed_out = slow->result->structured_content->value();
    CHECK(timed_out["timedOut"] == true);
    CHECK(timed_out["exitCode"] == 128 + SIGKILL);
    CHECK(timed_out["stdout"] == "begun\n");
}

void write_program(const fs::path& path, const std::string& says) {
    write_text(path, "#!/bin/sh\necho " + says + "\n");
    fs::permissions(path, fs::perms::owner_all);
}

// A program that code wrote into a directory of PATH is not what a user means by its name.
Task<void> call_command_of_workspace(Fixture* fixture) {
    const fs::path outside = fixture->folder.path / "bin";
    const fs::path inside = fixture->workspace / "node_modules/.bin";
    write_program(outside / "both", "good");
    for (const fs::path& evil : {inside / "both", inside / "only", fixture->workspace / "both"}) {
        write_program(evil, "evil");
    }
    fs::create_symlink(inside / "only", outside / "linked");
    fs::create_directory_symlink(inside, fixture->folder.path / "link_inside");
    fs::create_directory_symlink(outside, fixture->workspace / "link_outside");
    fixture->environment["PATH"] = inside.string() +
                                   "::node_modules/.bin:.:" + (fixture->folder.path / "link_inside").string() + ":" +
                                   (fixture->workspace / "link_outside").string() + ":/usr/bin:/bin";
    // The control: a program that searches PATH as usual runs the other one.
    const std::string usual =
        "cd '" + fixture->workspace.string() + "' && PATH='" + fixture->environment["PATH"] + "' both > ../usual";
    CHECK(std::system(usual.c_str()) == 0);
    CHECK(read_text(fixture->folder.path / "usual") == "evil\n");

    fixture->start_registry(fixture->loop.clock());
    const auto both = co_await fixture->call("host", "run_command", R"({"argv":["both","x"]})");
    REQUIRE(both->result);
    CHECK(both->result->structured_content->value()["stdout"] == "good\n");
    const protocol::Approval& shown = fixture->user->requested.back();
    const std::vector<std::string> command{(outside / "both").string(), "x"};
    CHECK(shown.action.command == command);
    std::string display;
    for (const std::string& line : shown.display) {
        display += line + "\n";
    }
    CHECK_MESSAGE(has(display, "program: \"" + command.front() + "\"\n"), display);
    for (const char* name : {"only", "linked", ""}) {
        CAPTURE(name);
        const auto none = co_await fixture->call("host", "run_command", std::string(R"({"argv":[")") + name + "\"]}");
        REQUIRE(none->result);
        CHECK(none->result->is_error == true);
        CHECK_MESSAGE(has(none->text(), "outside the workspace"), none->text());
    }
    const auto named = co_await fixture->call("host", "run_command", R"({"argv":["node_modules/.bin/only"]})");
    CHECK(named->result->structured_content->value()["stdout"] == "evil\n");
    CHECK(fixture->user->requested.back().action.command->front() == "node_modules/.bin/only");

    // What a user makes of it is looked for alike.
    fixture->user->answer = [fixture](const protocol::Approval& approval) {
        fixture->user->respond(approval, protocol::Verdict::allow, RawJson::parse(R"({"argv":["both"]})"));
    };
    const auto edited = co_await fixture->call("host", "run_command", R"({"argv":["true"]})");
    REQUIRE(edited->result);
    CHECK(edited->result->structured_content->value()["stdout"] == "good\n");
}

Task<void> cancel_command(Fixture* fixture) {
    const auto running = fixture->start_call(
        "host", "run_command", R"({"argv":["sh","-c","echo $$ > pid; trap '' TERM; sleep 1000; sleep 1000"]})");
    const fs::path file = fixture->workspace / "pid";
    CHECK(co_await fixture->until([&file] { return has(read_text(file), "\n"); }));
    const int pid = std::stoi(read_text(file));
    CHECK(::kill(pid, 0) == 0);
    running->cancel->cancel();
    co_await running->done.wait();
    CHECK(running->code() == ErrorCode::request_cancelled);
    CHECK(::kill(pid, 0) != 0);
}

} // namespace

TEST_CASE("the host's tools read, list and write, and tell what fails as their own errors") {
    Fixture fixture;
    fixture.run(call_files(&fixture));
}

TEST_CASE("what would be refused anyway is refused before anybody is asked") {
    Fixture fixture;
    fixture.run(call_refused(&fixture));
}

TEST_CASE("a write that is denied makes no file, and one that is edited makes the edited one") {
    Fixture denied;
    denied.run(call_write_denied(&denied));
    Fixture edited;
    edited.run(call_write_edited(&edited));
}

TEST_CASE("a command runs without a shell, in its directory, with a small environment and a bounded output") {
    Fixture fixture;
    fixture.run(call_commands(&fixture));
}

TEST_CASE("a command's program is found outside the workspace only, and is shown as it is started") {
    Fixture fixture;
    fixture.run(call_command_of_workspace(&fixture));
}

TEST_CASE("a command ends with the call that made it") {
    Fixture fixture;
    fixture.run(cancel_command(&fixture));
}
