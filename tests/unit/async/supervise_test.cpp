#include "async/process.hpp"
#include "helpers.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::async;

namespace {

// With the supervisor and `sh` itself.
constexpr std::size_t supervised_escape_artists = 6;

Task<void> kill_escape_artists(Loop* loop, std::string mark) {
    const std::unique_ptr<Process> process = start_process(*loop, shell(escape_artists, mark));
    REQUIRE(wait_for_marked(mark, supervised_escape_artists));
    process->kill();
    const ExitStatus status = co_await process->exited();
    CHECK(status.signal == SIGKILL);
    CHECK(marked_processes(mark).empty());
}

Task<void> drop_escape_artists(Loop* loop, std::string mark) {
    const std::unique_ptr<Process> process = start_process(*loop, shell(escape_artists, mark));
    REQUIRE(wait_for_marked(mark, supervised_escape_artists));
    co_return;
}

Task<void> leave_descendants(Loop* loop, std::string mark) {
    // stdout is not theirs, so that nothing but their end can end the wait for the exit.
    const std::string script = "(trap '' TERM; setsid sleep 1000 >/dev/null) & sleep 1000 >/dev/null & exit 9";
    const std::unique_ptr<Process> process = start_process(*loop, shell(script, mark));
    const ExitStatus status = co_await process->exited();
    CHECK(status.code == 9);
    CHECK(marked_processes(mark).empty());
}

Task<void> kill_the_supervisor(Loop* loop) {
    const std::unique_ptr<Process> process = start_process(*loop, shell("trap '' TERM; echo $$; exec sleep 1000"));
    const std::string pid = co_await process->stdio().read();
    ::kill(process->pid(), SIGKILL);
    const ExitStatus status = co_await process->exited();
    CHECK(status.signal == SIGKILL);
    CHECK(wait_for_end(std::stoi(pid)));
}

// It is not killed, but told.
Task<void> kill_the_supervisor_of_one_that_hears_of_it(Loop* loop) {
    Command command = shell("echo begun; cat <&7; echo ended");
    command.lifeline_fd = 7;
    const std::unique_ptr<Process> process = start_process(*loop, std::move(command));
    const std::string begun = co_await process->stdio().read();
    CHECK(begun == "begun\n");
    ::kill(process->pid(), SIGKILL);
    const std::string ended = co_await process->stdio().read();
    CHECK(ended == "ended\n");
}

Task<void> join_no_group(Loop* loop, std::string folder) {
    Command command = shell("echo ran");
    command.groups = {folder};
    const std::unique_ptr<Process> process = start_process(*loop, std::move(command));
    const std::string out = co_await process->stdio().read();
    CHECK(out.empty());
    const ExitStatus status = co_await process->exited();
    CHECK(status.code == 127);
    CHECK(process->stderr_tail().find("cannot join the control group " + folder) != std::string::npos);
}

Task<void> sessions(Loop* loop) {
    const std::unique_ptr<Process> process = start_process(*loop, shell("echo $$; read line"));
    const int child = std::stoi(co_await process->stdio().read());
    CHECK(::getsid(process->pid()) == process->pid());
    CHECK(::getsid(child) == child);
    process->kill();
    co_await process->exited();
}

Task<void> signal_supervisor(Loop* loop, int signal, ExitStatus* status) {
    const std::unique_ptr<Process> process =
        start_process(*loop, shell("trap 'exit 1' HUP; trap 'exit 2' INT; trap 'exit 3' QUIT; trap 'exit 15' TERM; "
                                   "trap 'exit 99' USR1; echo ready; while :; do sleep 0.01; done"));
    co_await process->stdio().read();
    ::kill(process->pid(), SIGUSR1); // changes nothing
    ::kill(process->pid(), signal);
    *status = co_await process->exited();
}

Task<void> kill_comet(Loop* loop, std::string mark) {
    Command command = shell("", mark);
    command.argv = {ASYNC_FIXTURE, "comet", "60"};
    const std::unique_ptr<Process> process = start_process(*loop, command);
    const std::string said = co_await process->stdio().read();
    REQUIRE(said == "under way");
    process->kill();
    co_await process->exited();
    CHECK(marked_processes(mark).empty());
}

Task<void> call_wrongly(Loop* loop, std::vector<std::string> arguments) {
    Command command;
    command.argv = {CELLGATE_HELPER, "supervise"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    const std::unique_ptr<Process> process = start_process(*loop, command);
    const ExitStatus status = co_await process->exited();
    CHECK(status.code == 2);
    CHECK(process->stderr_tail().starts_with("usage: cellgate supervise"));
}

pid_t start_plainly(std::vector<std::string> argv, const std::string& mark) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        std::vector<char*> arguments;
        for (std::string& argument : argv) {
            arguments.push_back(argument.data());
        }
        arguments.push_back(nullptr);
        ::putenv(const_cast<char*>(mark.c_str()));
        ::execvp(arguments[0], arguments.data());
        ::_exit(127);
    }
    return pid;
}

Task<void> show_groups(Loop* loop, std::vector<std::string> folders, std::string* shown) {
    Command command = shell("cat /proc/self/cgroup");
    command.groups = std::move(folders);
    const std::unique_ptr<Process> process = start_process(*loop, std::move(command));
    *shown = co_await read_all(&process->stdio());
    const ExitStatus status = co_await process->exited();
    CHECK(status.code == 0);
}

} // namespace

TEST_CASE("control: without a supervisor, the escape artists outlive who started them") {
    const std::string mark = new_mark();
    const pid_t shell_pid = start_plainly({"sh", "-c", escape_artists}, mark);
    REQUIRE(wait_for_marked(mark, supervised_escape_artists - 1));
    ::kill(-shell_pid, SIGTERM);
    ::kill(shell_pid, SIGKILL);
    ::waitpid(shell_pid, nullptr, 0);
    CHECK(marked_processes(mark).size() >= 3);
    // Again, for what was made meanwhile: one that is left would keep this program's output open.
    for (std::vector<int> left = marked_processes(mark); !left.empty(); left = marked_processes(mark)) {
        for (const int pid : left) {
            ::kill(pid, SIGKILL);
        }
    }
    CHECK(wait_for_marked(mark, 0));
}

TEST_CASE("killing a process ends all its descendants before it counts as ended") {
    Loop loop;
    loop.run(kill_escape_artists(&loop, new_mark()));
}

TEST_CASE("a process that is dropped ends with all its descendants before the loop does") {
    const std::string mark = new_mark();
    Loop loop;
    loop.run(drop_escape_artists(&loop, mark));
    CHECK(marked_processes(mark).empty());
}

TEST_CASE("what a child leaves behind ends with it") {
    Loop loop;
    loop.run(leave_descendants(&loop, new_mark()));
}

TEST_CASE("nothing survives a SIGKILL of the sidecar") {
    const std::string mark = new_mark();
    const pid_t sidecar = start_plainly({ASYNC_FIXTURE, "hold", "sh", "-c", escape_artists}, mark);
    REQUIRE(wait_for_marked(mark, supervised_escape_artists + 1));
    ::kill(sidecar, SIGKILL);
    ::waitpid(sidecar, nullptr, 0);
    CHECK(wait_for_marked(mark, 0));
}

TEST_CASE("a child ends when its supervisor is killed") {
    Loop loop;
    loop.run(kill_the_supervisor(&loop));
}

TEST_CASE("a child that ends by itself sees its supervisor's end") {
    Loop loop;
    loop.run(kill_the_supervisor_of_one_that_hears_of_it(&loop));
}

TEST_CASE("a descendant that forks and ends all the time is caught") {
    Loop loop;
    loop.run(kill_comet(&loop, new_mark()));
}

TEST_CASE("supervisor and child have sessions of their own, which no terminal's ^C reaches") {
    Loop loop;
    loop.run(sessions(&loop));
}

TEST_CASE("a command that cannot be put into its control group does not run") {
    Loop loop;
    loop.run(join_no_group(&loop, "/nonexistent/group"));
}

TEST_CASE("a command runs in its control groups, of both versions") {
    const std::string name = "/supervised-" + std::to_string(::getpid());
    std::vector<std::string> folders;
    for (const char* hierarchy :
         {"/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
        const std::string folder = hierarchy + name;
        if (::access((std::string(hierarchy) + "/cgroup.procs").c_str(), W_OK) == 0 &&
            ::mkdir(folder.c_str(), 0755) == 0) {
            folders.push_back(folder);
        }
    }
    if (folders.empty()) {
        MESSAGE("no control groups can be made here");
        return;
    }
    Loop loop;
    std::string shown;
    loop.run(show_groups(&loop, folders, &shown));
    std::size_t joined = 0;
    for (std::size_t at = shown.find(name); at != std::string::npos; at = shown.find(name, at + 1)) {
        ++joined;
    }
    CHECK_MESSAGE(joined == folders.size(), shown);
    for (const std::string& folder : folders) {
        CHECK(::rmdir(folder.c_str()) == 0); // which is its maker's to do
    }
}

TEST_CASE("the signals that ask for an end are passed on to the child, and no other") {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
        Loop loop;
        ExitStatus status;
        loop.run(signal_supervisor(&loop, signal, &status));
        CHECK(status.code == signal);
    }
}

TEST_CASE("a supervisor that is called wrongly says how") {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{}, {"3"}, {"3", "--"}, {"--", "true"}, {"x", "--", "true"}, {"1", "--", "true"}}) {
        Loop loop;
        loop.run(call_wrongly(&loop, arguments));
    }
}
