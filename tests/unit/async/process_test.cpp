#include "async/process.hpp"
#include "helpers.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::async;

namespace {

struct Result {
    std::string output;
    std::string errors;
    ExitStatus status;
};

Task<void> collect(Loop* loop, Command command, std::string input, Result* result) {
    const std::unique_ptr<Process> process = start_process(*loop, std::move(command));
    process->stdio().write(std::move(input));
    process->close_stdin();
    result->output = co_await read_all(&process->stdio());
    result->status = co_await process->exited();
    result->errors = process->stderr_tail();
}

Result run(Command command, std::string input = {}) {
    Loop loop;
    Result result;
    loop.run(collect(&loop, std::move(command), std::move(input), &result));
    return result;
}

std::string why_not(Command command) {
    Loop loop;
    try {
        start_process(loop, std::move(command));
    } catch (const Error& error) {
        return error.message;
    }
    return {};
}

Task<void> output_ends_first(Loop* loop) {
    const std::unique_ptr<Process> process = start_process(*loop, shell("exec >&-; read line; exit 4"));
    const std::string nothing = co_await process->stdio().read();
    CHECK(nothing.empty());
    CHECK_FALSE(process->has_exited());
    process->close_stdin();
    const ExitStatus status = co_await process->exited();
    CHECK(status.code == 4);
}

Task<void> input_ends_first(Loop* loop) {
    const std::unique_ptr<Process> process =
        start_process(*loop, shell("exec <&-; echo closed; read x <&1; sleep 1000"));
    co_await process->stdio().read();
    process->stdio().write(std::string(1 << 20, 'x'));
    co_await process->stdio().drained(0);
    CHECK_FALSE(process->has_exited());
    process->kill();
    co_await process->exited();
}

Task<void> terminate_one(Loop* loop) {
    const std::unique_ptr<Process> process =
        start_process(*loop, shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done"));
    co_await process->stdio().read();
    process->terminate();
    const ExitStatus status = co_await process->exited();
    CHECK(status.code == 7);
    process->terminate(); // nothing to end any more
    process->kill();
}

Task<void> stop_one(Loop* loop, std::string script, Duration grace, ExitStatus* status) {
    const std::unique_ptr<Process> process = start_process(*loop, shell(std::move(script)));
    co_await process->stdio().read();
    co_await process->stop(grace);
    CHECK(process->has_exited());
    *status = co_await process->exited();
}

ExitStatus stop(std::string script, Duration grace) {
    Loop loop;
    ExitStatus status;
    loop.run(stop_one(&loop, std::move(script), grace, &status));
    return status;
}

Task<void> count_exit(Process* process, int* count) {
    co_await process->exited();
    ++*count;
}

Task<void> many_waiters(Loop* loop, int* count) {
    const std::unique_ptr<Process> process = start_process(*loop, shell("read line"));
    TaskScope scope;
    for (int i = 0; i < 10; ++i) {
        scope.spawn(count_exit(process.get(), count));
    }
    process->close_stdin();
    co_await scope.join();
    co_await count_exit(process.get(), count);
}

Task<void> end_one_of_two(Loop* loop) {
    const std::unique_ptr<Process> first = start_process(*loop, shell("sleep 1000"));
    const std::unique_ptr<Process> second = start_process(*loop, shell("sleep 1000"));
    first->kill();
    const ExitStatus status = co_await first->exited();
    CHECK(status.signal == SIGKILL);
    CHECK_FALSE(second->has_exited());
    second->kill();
    co_await second->exited();
}

} // namespace

TEST_CASE("stderr is read with stdout, in the order of printing, where that is asked for") {
    Command command = shell("echo one; echo two >&2; echo three");
    command.stderr_to_stdout = true;
    const Result joined = run(std::move(command));
    CHECK(joined.output == "one\ntwo\nthree\n");
    CHECK(joined.errors.empty());
    const Result apart = run(shell("echo one; echo two >&2; echo three")); // the control
    CHECK(apart.output == "one\nthree\n");
    CHECK(apart.errors == "two\n");
}

TEST_CASE("ten megabytes pass through a child unchanged") {
    std::string input;
    for (int i = 0; input.size() < 10'000'000; ++i) {
        input += std::to_string(i);
    }
    Command command;
    command.argv = {"/bin/cat"};
    const Result result = run(command, input);
    CHECK(result.output == input);
    CHECK(result.status.success());
}

TEST_CASE("how a child ended is reported as it was") {
    CHECK(run(shell("exit 0")).status.success());
    const ExitStatus code = run(shell("exit 3")).status;
    CHECK(code.describe() == "exit code 3");
    CHECK_FALSE(code.success());
    CHECK(run(shell("exit 255")).status.code == 255);
    for (const auto& [script, text] :
         {std::pair{"kill -KILL $$", "signal 9 (SIGKILL)"}, std::pair{"kill -SEGV $$", "signal 11 (SIGSEGV)"},
          std::pair{"kill -TERM $$", "signal 15 (SIGTERM)"}}) {
        const ExitStatus status = run(shell(script)).status;
        CHECK(status.describe() == text);
        CHECK_FALSE(status.success());
    }
}

TEST_CASE("a child that closes its output runs on, and we see the end of the output") {
    Loop loop;
    loop.run(output_ends_first(&loop));
}

TEST_CASE("a child that closes its input runs on, and writing to it neither fails nor waits") {
    Loop loop;
    loop.run(input_ends_first(&loop));
}

TEST_CASE("a flood on stderr does not block a child, and its end is kept") {
    const Result result =
        run(shell("head -c 20000000 /dev/zero | tr '\\0' x >&2; echo 'last words' >&2; echo done; exit 1"));
    CHECK(result.output == "done\n");
    CHECK(result.status.code == 1);
    CHECK(result.errors.size() == 65536);
    CHECK(result.errors.ends_with("xlast words\n"));
}

TEST_CASE("a child gets the environment that it was given and nothing else") {
    ::setenv("SECRET_OF_OURS", "1", 1);
    Command command;
    command.argv = {"/usr/bin/env"};
    command.environment = {{"A", "1"}, {"EMPTY", ""}, {"WITH", "a=b\nc"}};
    CHECK(run(command).output == "A=1\nEMPTY=\nWITH=a=b\nc\n");
    command.environment.clear();
    CHECK(run(command).output.empty());
}

TEST_CASE("a child starts in its cwd") {
    Command command = shell("pwd -P");
    command.cwd = "/usr/bin";
    CHECK(run(command).output == "/usr/bin\n");
}

TEST_CASE("a child starts with no signal blocked or ignored") {
    // Asked of the program itself: shells clear their mask.
    Command command;
    command.argv = {"/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"};
    const Result result = run(command);
    CHECK(result.output == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_CASE("a child gets the descriptors that it was given and no other of ours") {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe2(pipe.data(), O_CLOEXEC) == 0);
    const int careless = ::open("/dev/null", O_RDONLY); // any program inherits this one
    Command command = shell("echo given >&9; ls /proc/self/fd");
    command.descriptors = {{9, pipe[1]}, {40, careless}};
    const Result result = run(command);
    ::close(pipe[1]);
    CHECK(result.output == "0\n1\n2\n3\n40\n9\n"); // 3 is where ls reads
    std::array<char, 16> bytes{};
    CHECK(::read(pipe[0], bytes.data(), bytes.size()) == 6);
    CHECK(std::string(bytes.data()) == "given\n");
    ::close(pipe[0]);
    ::close(careless);
}

TEST_CASE("a child can be given every number, those of our own descriptors too") {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    Command command = shell("echo started");
    for (int number = 3; number < 64; ++number) {
        command.descriptors[number] = null;
    }
    CHECK(run(command).output == "started\n");
    ::close(null);
}

TEST_CASE("ending one child leaves the other running") {
    // The second was started while the first one's control pipe was open: had it inherited that, the first would live.
    Loop loop;
    loop.run(end_one_of_two(&loop));
}

TEST_CASE("a program that cannot start is an error that says why") {
    const TempFolder directory;
    std::ofstream(directory.at("script")) << "#!/bin/sh\n";
    Command command = shell("");
    command.argv = {"no-such-program-here"};
    CHECK(why_not(command) == "cannot start no-such-program-here: No such file or directory");
    command.argv = {"/no/such/program"};
    CHECK(why_not(command) == "cannot start /no/such/program: No such file or directory");
    command.argv = {directory.at("script")};
    CHECK(why_not(command) == "cannot start " + directory.at("script") + ": Permission denied");
    command.argv = {"/tmp"};
    CHECK(why_not(command) == "cannot start /tmp: Permission denied");
    command.argv = {"sh"};
    command.cwd = directory.at("missing");
    CHECK(why_not(command) == "cannot start sh: " + directory.at("missing") + ": No such file or directory");
    command.argv = {};
    CHECK(why_not(command).find("expected a program's name") != std::string::npos);
}

TEST_CASE("a program is looked up in the PATH that the child gets, from where it starts") {
    const TempFolder directory;
    std::filesystem::create_directory(directory.at("bin"));
    std::ofstream(directory.at("bin/hello")) << "#!/bin/sh\necho hello\n";
    ::chmod(directory.at("bin/hello").c_str(), 0700);
    Command command;
    command.argv = {"hello"};
    CHECK(why_not(command) == "cannot start hello: No such file or directory");
    command.environment["PATH"] = "/nowhere:" + directory.at("bin");
    CHECK(run(command).output == "hello\n");
    command.environment["PATH"] = "bin";
    command.cwd = directory.at("");
    CHECK(run(command).output == "hello\n");
    command.argv = {"bin/hello"};
    CHECK(run(command).output == "hello\n");
}

TEST_CASE("a program whose interpreter is missing ends with 127 and a line that says so") {
    const TempFolder directory;
    std::ofstream(directory.at("script")) << "#!/no/such/interpreter\n";
    ::chmod(directory.at("script").c_str(), 0700);
    Command command;
    command.argv = {directory.at("script")};
    const Result result = run(command);
    CHECK(result.status.code == 127);
    CHECK(result.errors == "cellgate: cannot start " + directory.at("script") + ": No such file or directory\n");
}

TEST_CASE("a text that would end early never starts a program") {
    using namespace std::string_literals;
    Command command = shell("true");
    command.argv.push_back("shown\0 not passed"s);
    CHECK(why_not(command).find("NUL") != std::string::npos);
    command = shell("true");
    command.environment["A"] = "1\0"s;
    CHECK(why_not(command).find("NUL") != std::string::npos);
    command = shell("true");
    command.environment["LD_PRELOAD=/x\nA"] = "1";
    CHECK(why_not(command).find("the name of an environment variable") != std::string::npos);
    command = shell("true");
    command.cwd = "/tmp\0/x"s;
    CHECK(why_not(command).find("NUL") != std::string::npos);
}

TEST_CASE("SIGTERM reaches the child itself") {
    Loop loop;
    loop.run(terminate_one(&loop));
}

TEST_CASE("stopping first closes stdin, then terminates, then kills") {
    const Duration long_enough = std::chrono::hours(1);
    const Duration short_grace = std::chrono::milliseconds(30);
    CHECK(stop("echo ready; cat; exit 5", long_enough).code == 5);
    CHECK(stop("trap 'exit 6' TERM; echo ready; while :; do sleep 0.01; done", short_grace).code == 6);
    CHECK(stop("trap '' TERM; echo ready; while :; do sleep 0.01; done", short_grace).signal == SIGKILL);
}

TEST_CASE("many may wait for a child's end, also afterwards") {
    Loop loop;
    int count = 0;
    loop.run(many_waiters(&loop, &count));
    CHECK(count == 11);
}
