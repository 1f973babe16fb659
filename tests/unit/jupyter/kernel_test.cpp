// With the real ipykernel of the system's Python, outside any sandbox.
#include "jupyter/kernel_choice.hpp"
#include "jupyter/process_kernel.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <signal.h>

using namespace cellgate;
using namespace cellgate::jupyter;
using namespace cellgate::jupyter::test;
using namespace std::chrono_literals;

namespace {

struct Scene {
    async::Command command(const std::string& python = "/usr/bin/python3") {
        KernelChoice choice;
        choice.argv = {python, "-m", "ipykernel_launcher", "-f", "{connection_file}"};
        async::Command command;
        command.argv = launch_argv(choice, connection.file, BOOTSTRAP);
        command.environment = {{"PATH", "/usr/bin:/bin"},
                               {"HOME", home.path},
                               {"LANG", "C.UTF-8"},
                               {"PYDEVD_DISABLE_FILE_VALIDATION", "1"}};
        command.cwd = home.path;
        return command;
    }
    Instant soon() { return loop.clock().now() + 60s; }

    async::Loop loop;
    TempDirectory home;
    std::unique_ptr<TempDirectory> directory; // a new one for each start
    ConnectionInfo connection;
    Recorder recorder;
    std::unique_ptr<Kernel> kernel;
    int executions = 0;
};

Task<void> start(Scene* scene) {
    scene->directory = std::make_unique<TempDirectory>();
    scene->connection = create_connection(scene->directory->path);
    async::Command command = scene->command();
    scene->kernel =
        co_await start_kernel(scene->loop, std::move(command), scene->connection, scene->recorder, scene->soon());
}

Task<ExecuteReply> execute(Scene* scene, std::string text, bool stop_on_error = false) {
    scene->recorder.outputs.clear();
    ExecuteRequest request = code("cell-" + std::to_string(++scene->executions), std::move(text));
    request.stop_on_error = stop_on_error;
    co_return co_await scene->kernel->client().execute(std::move(request));
}

struct Outcome {
    std::optional<ExecuteReply> reply;
    std::optional<Error> error;
    Event ended;
};

Task<void> execute_into(Scene* scene, std::string text, Outcome* outcome, bool stop_on_error = false) {
    try {
        outcome->reply = co_await execute(scene, std::move(text), stop_on_error);
    } catch (const Error& error) {
        outcome->error = error;
    }
    outcome->ended.set();
}

Task<void> stop(Scene* scene) {
    co_await scene->kernel->stop(5s);
    scene->kernel.reset();
}

Task<void> output(Scene* scene) {
    co_await start(scene);
    CHECK(scene->kernel->info().implementation == "ipython");
    CHECK(scene->kernel->info().language == "python");

    ExecuteReply reply = co_await execute(scene, "import sys\nprint('out')\nprint('err', file=sys.stderr)\n1 + 1");
    CHECK(reply.status == ExecuteStatus::ok);
    CHECK(reply.execution_count == 1);
    CHECK(scene->recorder.stream_text() == "out\n");
    CHECK(scene->recorder.stream_text("stderr") == "err\n");
    CHECK(scene->recorder.bodies().back() ==
          R"({"output_type":"execute_result","execution_count":1,"data":{"text/plain": "2"},"metadata":{}})");

    co_await execute(scene,
                     "from IPython.display import *\n"
                     "display({'text/plain': 'p', 'text/html': '<b>h</b>', 'application/json': {'a': [1]}}, raw=True)\n"
                     "h = display('one', display_id='slot')\nh.update('two')\n"
                     "clear_output(wait=True)");
    REQUIRE(scene->recorder.outputs.size() == 4);
    const Json rich = scene->recorder.outputs[0].output.body.value();
    CHECK(rich.at("data").at("application/json").at("a").at(0) == 1);
    const Json first = scene->recorder.outputs[1].output.body.value();
    CHECK(first.at("transient").at("display_id") == "slot");
    const Json update = scene->recorder.outputs[2].output.body.value();
    CHECK(update.at("output_type") == "update_display_data");
    CHECK(update.at("transient").at("display_id") == "slot");
    CHECK(update.at("data").at("text/plain") == "'two'");
    CHECK(scene->recorder.bodies().back() == R"({"output_type":"clear_output","wait":true})");

    co_await execute(scene, "for i in range(100000): print(i)");
    std::string expected;
    for (int i = 0; i < 100000; ++i) {
        expected += std::to_string(i) + "\n";
    }
    CHECK(scene->recorder.stream_text() == expected);

    co_await execute(scene, "print('a\\udcffb')");
    CHECK(scene->recorder.stream_text() == "a\uFFFDb\n");
    CHECK(scene->kernel->client().dropped() == 0);
    co_await stop(scene);
}

Task<void> errors(Scene* scene) {
    co_await start(scene);
    ExecuteReply reply = co_await execute(scene, "def f():\n    1/0\n\nf()");
    CHECK(reply.status == ExecuteStatus::error);
    REQUIRE(reply.error);
    CHECK(reply.error->ename == "ZeroDivisionError");
    CHECK_FALSE(reply.error->traceback.empty());
    REQUIRE(reply.error->frames.size() == 2);
    CHECK(reply.error->frames[0].execution == "cell-1");
    CHECK(reply.error->frames[0].line == 3);
    CHECK(reply.error->frames[1].line == 1);
    CHECK(reply.error->frames[1].function == "f");
    const Json body = scene->recorder.outputs.back().output.body.value();
    CHECK(body.at("output_type") == "error");
    CHECK(body.at("ename") == "ZeroDivisionError");
    CHECK_FALSE(body.contains("cellgate"));

    // ipykernel cannot encode its own reply to this.
    reply = co_await execute(scene, "raise ValueError('\\ud800')");
    CHECK(reply.status == ExecuteStatus::error);
    // At once after an error: with stop_on_error it would be aborted, unseen and unrun.
    reply = co_await execute(scene, "'still there'");
    CHECK(reply.status == ExecuteStatus::ok);

    Outcome one;
    Outcome two;
    TaskScope scope;
    scope.spawn(execute_into(scene, "import time; time.sleep(0.3); 1/0", &one, true));
    scope.spawn(execute_into(scene, "'never'", &two, true));
    co_await one.ended.wait();
    co_await two.ended.wait();
    co_await scope.join();
    CHECK(one.reply->status == ExecuteStatus::error);
    CHECK(two.reply->status == ExecuteStatus::aborted);

    co_await stop(scene);
}

Task<void> answer(Scene* scene, std::size_t number, std::optional<std::string> value) {
    Recorder* recorder = &scene->recorder;
    std::function<bool()> asked = [recorder, number] { return recorder->prompts.size() >= number; };
    co_await Recorder::until(recorder, std::move(asked));
    scene->kernel->client().reply_input(recorder->prompts.back().id, std::move(value));
}

Task<void> input(Scene* scene) {
    co_await start(scene);
    TaskScope scope;
    scope.spawn(answer(scene, 1, "Ada"));
    co_await execute(scene, "name = input('who? ')\nprint('hello', name)");
    CHECK(scene->recorder.stream_text() == "hello Ada\n");
    CHECK(scene->recorder.prompts[0].prompt == "who? ");
    CHECK_FALSE(scene->recorder.prompts[0].password);
    CHECK(scene->recorder.prompts[0].parent == "cell-1");

    scope.spawn(answer(scene, 2, std::nullopt));
    ExecuteReply reply = co_await execute(scene, "input()");
    REQUIRE(reply.error);
    CHECK(reply.error->ename == "EOFError");

    scope.spawn(answer(scene, 3, "secret"));
    reply = co_await execute(scene, "import getpass\nprint(len(getpass.getpass('pw')))");
    CHECK(reply.status == ExecuteStatus::ok);
    CHECK(scene->recorder.stream_text() == "6\n");
    CHECK(scene->recorder.prompts[2].password);
    co_await scope.join();
    co_await stop(scene);
}

Task<void> interrupts(Scene* scene) {
    co_await start(scene);
    TaskScope scope;
    Recorder* recorder = &scene->recorder;
    const std::vector<std::string> loops = {"while True: pass", "import time\ntime.sleep(1000)", "input('stuck')"};
    for (const std::string& each : loops) {
        CAPTURE(each);
        Outcome outcome;
        recorder->outputs.clear();
        recorder->prompts.clear();
        scope.spawn(execute_into(scene, "print('running', flush=True)\n" + each, &outcome));
        std::function<bool()> running = [recorder] { return recorder->stream_text() == "running\n"; };
        co_await Recorder::until(recorder, std::move(running));
        // One that comes between two steps of Python is noticed after the next, which may be a sleep.
        bool ended = false;
        while (!ended) {
            scene->kernel->client().interrupt();
            ended = co_await wait_until(scene->loop.clock(), outcome.ended, scene->loop.clock().now() + 2s);
        }
        REQUIRE(outcome.reply);
        REQUIRE(outcome.reply->error);
        CHECK(outcome.reply->error->ename == "KeyboardInterrupt");
    }
    const ExecuteReply reply = co_await execute(scene, "'alive'");
    CHECK(reply.status == ExecuteStatus::ok);
    co_await scope.join();
    co_await stop(scene);
}

Task<void> restart(Scene* scene) {
    co_await start(scene);
    co_await execute(scene, "x = 1");
    const int pid = scene->kernel->pid().value();
    co_await stop(scene);
    CHECK(::kill(pid, 0) != 0);
    co_await start(scene);
    const ExecuteReply reply = co_await execute(scene, "x");
    CHECK(reply.error->ename == "NameError");
    co_await stop(scene);
}

struct End {
    std::string code;
    int exit_code;
    int signal;
    std::string said;
};

Task<void> death(Scene* scene, End end) {
    co_await start(scene);
    Outcome outcome;
    TaskScope scope;
    scope.spawn(execute_into(scene, "print('last', flush=True)\nimport os, signal, time\n" + end.code, &outcome));
    co_await outcome.ended.wait();
    REQUIRE(outcome.error);
    CHECK(outcome.error->code == ErrorCode::kernel_died);
    CHECK(outcome.error->message.find(end.said) != std::string::npos);
    const KernelExit kernel_exit = co_await scene->kernel->exited();
    CHECK(kernel_exit.status.code == end.exit_code);
    CHECK(kernel_exit.status.signal == end.signal);
    CHECK(scene->kernel->has_exited());
    co_await scope.join();
    co_await stop(scene);
}

Task<void> last_words(Scene* scene) {
    co_await start(scene);
    Outcome outcome;
    TaskScope scope;
    // ipykernel turns descriptor 2 into messages and keeps the real one aside.
    scope.spawn(execute_into(
        scene,
        "import ctypes, faulthandler, "
        "sys\nfaulthandler.enable(sys.stderr._original_stdstream_copy, all_threads=False)\nctypes.string_at(0)",
        &outcome));
    co_await outcome.ended.wait();
    CHECK(outcome.error->message.find("SIGSEGV") != std::string::npos);
    CHECK(outcome.error->message.find("Segmentation fault") != std::string::npos);
    co_await scope.join();
    co_await stop(scene);
}

Task<void> no_start(Scene* scene, async::Command command, Duration patience, const SignsOfLife* signs,
                    std::optional<Error>* error) {
    try {
        scene->kernel = co_await start_kernel(scene->loop, std::move(command), scene->connection, scene->recorder,
                                              scene->loop.clock().now() + patience, signs);
    } catch (const Error& failure) {
        *error = failure;
    }
}

Error why_not_started(const std::vector<std::string>& argv, Duration patience = 60s,
                      const SignsOfLife* signs = nullptr) {
    Scene scene;
    scene.directory = std::make_unique<TempDirectory>();
    scene.connection = create_connection(scene.directory->path);
    async::Command command = scene.command();
    command.argv = argv;
    std::optional<Error> error;
    scene.loop.run(no_start(&scene, command, patience, signs, &error));
    REQUIRE(error);
    return *error;
}

template <class... Args>
void run(Task<void> (*act)(Scene*, Args...), Args... args) {
    Scene scene;
    scene.loop.run(act(&scene, std::move(args)...));
}

} // namespace

TEST_CASE("streams, rich output, updates and a hundred thousand lines of a real kernel") {
    run(output);
}

TEST_CASE("errors of a real kernel come with their frames, and abort only what was to be aborted") {
    run(errors);
}

TEST_CASE("input() gets the answer, getpass() a hidden one, and no answer is the end of the file") {
    run(input);
}

TEST_CASE("an interrupt by message ends a busy loop, a sleep and a prompt, and the kernel lives on") {
    run(interrupts);
}

TEST_CASE("a kernel that was stopped leaves no process, and the next one starts empty") {
    run(restart);
}

TEST_CASE("the end of a kernel is reported with its cause: exit code or signal") {
    run(death, End{"os._exit(3)", 3, 0, "exit code 3"});
    run(death, End{"os.kill(os.getpid(), signal.SIGKILL); time.sleep(100)", 0, SIGKILL, "SIGKILL"});
    // As bubblewrap reports a child that a signal ended.
    run(death, End{"os._exit(128 + signal.SIGKILL)", 0, SIGKILL, "SIGKILL"});
}

TEST_CASE("a crash is reported with the last lines of stderr") {
    run(last_words);
}

TEST_CASE("a kernel that ends at its start is reported with exit code and stderr") {
    const Error error = why_not_started({"/bin/sh", "-c", "echo no such module >&2; exit 7"});
    CHECK(error.code == ErrorCode::kernel_start_failed);
    CHECK(error.message.find("exit code 7") != std::string::npos);
    CHECK(error.message.find("no such module") != std::string::npos);
}

TEST_CASE("a program that is not there is a start that failed") {
    const Error error = why_not_started({"/no/such/program"});
    CHECK(error.code == ErrorCode::kernel_start_failed);
    CHECK(error.message.find("/no/such/program") != std::string::npos);
}

Task<std::string> progress_in(int* steps, bool goes_on) {
    *steps += goes_on ? 1 : 0;
    co_return std::to_string(*steps);
}

TEST_CASE("a start in which nothing goes on fails before its deadline, and one in which something does waits for it") {
    const std::vector<std::string> silent = {"/bin/sh", "-c", "exec sleep 1000"};
    int steps = 0;
    const SignsOfLife nothing{2s, [&steps](int) { return progress_in(&steps, false); }};
    const Error error = why_not_started(silent, 60s, &nothing);
    CHECK(error.code == ErrorCode::kernel_start_failed);
    CHECK(error.message.find("did not make the sockets") != std::string::npos);
    CHECK(error.message.find("for 2 s it has neither printed nor computed anything") != std::string::npos);
    const SignsOfLife something{2s, [&steps](int) { return progress_in(&steps, true); }};
    CHECK(why_not_started(silent, 5s, &something).message.find("neither") == std::string::npos);
    CHECK(steps >= 4);
    const SignsOfLife patient{4s, [&steps](int) { return progress_in(&steps, false); }};
    const Error printed = why_not_started(
        {"/bin/sh", "-c", "for i in 1 2 3 4 5 6; do sleep 1; echo $i >&2; done; exit 7"}, 60s, &patient);
    CHECK(printed.message.find("exit code 7") != std::string::npos);
}

TEST_CASE("a program that never answers as a kernel is ended at the deadline, and its stderr is reported") {
    const Error error = why_not_started({"/bin/sh", "-c", "echo thinking >&2; exec sleep 1000"}, 5s);
    CHECK(error.code == ErrorCode::kernel_start_failed);
    CHECK(error.message.find("thinking") != std::string::npos);
}
