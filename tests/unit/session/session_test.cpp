// A session with a real kernel. Each test has one of its own, in no sandbox: what is tested is the queue and the ends.

#include "session_fixture.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <signal.h>

using namespace cellgate;
using namespace cellgate::session;
using namespace std::chrono_literals;
using protocol::ExecutionStatus;
using protocol::SessionStatus;

namespace {

using ExecutionPtr = std::shared_ptr<Execution>;

struct Recorder final : IgnoringObserver {
    void on_session_changed(const protocol::SessionChangedParams& changed) override {
        statuses.push_back(changed.status);
        happened.set();
    }
    void on_execution_changed(const Execution& execution, std::optional<std::int64_t> position) override {
        if (position) {
            positions[execution.id].push_back(*position);
        }
        happened.set();
    }
    void on_output(const Execution& execution, const protocol::OutputRecord& record) override {
        texts[execution.id] += record.output->text();
        late = late || record.late.value_or(false);
        happened.set();
    }
    Task<std::optional<std::string>> ask_input(ClientId, protocol::InputRequestParams params) override {
        prompts.push_back(params.prompt);
        before_prompts.push_back(texts[params.execution_id]);
        happened.set();
        try {
            Event answered;
            co_await answered.wait();
        } catch (const Cancelled&) {
            ++withdrawn;
            throw;
        }
        co_return std::nullopt;
    }

    Task<void> until(std::function<bool()> condition) {
        while (!condition()) {
            happened.reset();
            co_await happened.wait();
        }
    }

    std::vector<SessionStatus> statuses;
    std::map<std::string, std::vector<std::int64_t>> positions;
    std::map<std::string, std::string> texts;
    std::vector<std::string> prompts;
    std::vector<std::string> before_prompts; // the output of their executions
    int withdrawn = 0;
    bool late = false;
    Event happened;
};

struct Fixture : SessionFixture<Recorder> {
    Fixture() : SessionFixture(true) {
        SessionOptions options;
        options.cwd = workspace + "/sub";
        open(std::move(options));
    }

    ExecutionPtr execute(const std::string& code, ClientId client = 1, std::optional<double> timeout = {}) {
        protocol::ExecuteParams params;
        params.code = code;
        params.timeout_seconds = timeout;
        return session->enqueue(std::move(params), client);
    }
    Task<ExecutionPtr> finished(std::string code) {
        ExecutionPtr execution = execute(code);
        co_await execution->finished.wait();
        co_return execution;
    }
    std::string printed(const ExecutionPtr& execution) const {
        const auto found = recorder.texts.find(execution->id);
        return found == recorder.texts.end() ? "" : found->second;
    }
    Task<void> until_printed(ExecutionPtr execution, std::string text) {
        std::function<bool()> has_printed = [&] { return printed(execution).find(text) != std::string::npos; };
        co_await recorder.until(std::move(has_printed));
    }
    Task<pid_t> kernel_pid() {
        std::string code = "import os; print('pid', os.getpid(), 'end', flush=True)";
        const ExecutionPtr execution = co_await finished(std::move(code));
        const std::string text = printed(execution);
        const std::size_t at = text.find("pid ");
        REQUIRE(at != std::string::npos);
        co_return static_cast<pid_t>(std::atoi(text.c_str() + at + 4));
    }
    // The restart's outcome goes into `outcomes`.
    Task<void> restart() {
        std::string outcome = "restarted";
        try {
            SandboxChange none;
            co_await session->restart(std::move(none));
        } catch (const Error& error) {
            outcome = kind_of(error.code);
        }
        outcomes.push_back(outcome);
    }
    ErrorCode refusal(const std::string& code) {
        try {
            execute(code);
        } catch (const Error& error) {
            return error.code;
        }
        return ErrorCode::internal_error;
    }
};

bool runs(pid_t pid) {
    return ::kill(pid, 0) == 0 || errno != ESRCH;
}

constexpr const char* endless = "print('go', flush=True)\nimport time\nwhile True: time.sleep(0.01)";
// Ends only with its kernel.
constexpr const char* deaf = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                             "print('go', flush=True)\nwhile True: time.sleep(0.01)";

Task<void> in_order(Fixture* fixture) {
    const ExecutionPtr first = fixture->execute(endless);
    const ExecutionPtr second = fixture->execute("print('second', 40 + 2)");
    const ExecutionPtr third = fixture->execute("print('third')");
    std::string go = "go";
    co_await fixture->until_printed(first, std::move(go));
    CHECK(fixture->session->position(*second) == 1);
    CHECK(fixture->session->position(*third) == 2);
    CHECK_FALSE(fixture->session->position(*first));
    CHECK(first->state == protocol::ExecutionState::running);
    CHECK_FALSE(co_await fixture->session->cancel(second, 5s, false));
    CHECK(second->result.status == ExecutionStatus::cancelled);
    CHECK(fixture->recorder.positions[third->id] == std::vector<std::int64_t>{2}); // told once, and then when asked
    CHECK(fixture->session->position(*third) == 1);
    CHECK_FALSE(co_await fixture->session->cancel(first, 30s, false));
    CHECK(first->result.status == ExecutionStatus::cancelled);
    CHECK_FALSE(co_await fixture->session->cancel(first, 5s, true)); // over already: nothing is ended
    co_await third->finished.wait();
    CHECK(third->result.status == ExecutionStatus::ok);
    CHECK(third->result.execution_count.value == 2);
    CHECK(fixture->printed(second).empty());
    CHECK(fixture->printed(third).find("third") != std::string::npos);
    CHECK(fixture->recorder.statuses.back() == SessionStatus::idle);
}

Task<void> errors_stop(Fixture* fixture) {
    const ExecutionPtr broken = fixture->execute("1 / 0", 1);
    const ExecutionPtr same = fixture->execute("print('same')", 1);
    const ExecutionPtr other = fixture->execute("print('other')", 2);
    co_await other->finished.wait();
    CHECK(broken->result.status == ExecutionStatus::error);
    REQUIRE(broken->result.error);
    CHECK(broken->result.error->ename == "ZeroDivisionError");
    CHECK(same->result.status == ExecutionStatus::cancelled);
    CHECK(fixture->printed(same).empty());
    CHECK(other->result.status == ExecutionStatus::ok);
}

Task<void> timeout_kills(Fixture* fixture) {
    const ExecutionPtr stuck = fixture->execute(deaf, 1, 0.05);
    const ExecutionPtr queued = fixture->execute("print('never')");
    co_await stuck->finished.wait();
    CHECK(stuck->result.status == ExecutionStatus::killed);
    CHECK(stuck->result.reason.value_or("").find("did not stop") != std::string::npos);
    CHECK(queued->result.status == ExecutionStatus::cancelled);
    std::string code = "print('again')";
    const ExecutionPtr next = co_await fixture->finished(std::move(code));
    CHECK(next->result.status == ExecutionStatus::ok);
    CHECK(next->result.execution_count.value == 1);
}

Task<void> cancel_forces(Fixture* fixture) {
    const ExecutionPtr stuck = fixture->execute(deaf);
    std::string go = "go";
    co_await fixture->until_printed(stuck, std::move(go));
    CHECK(co_await fixture->session->cancel(stuck, 50ms, false)); // it still runs, and is left alone
    CHECK(stuck->state == protocol::ExecutionState::running);
    CHECK_FALSE(co_await fixture->session->cancel(stuck, 50ms, true));
    CHECK(stuck->result.status == ExecutionStatus::killed);
}

Task<void> kernel_dies(Fixture* fixture) {
    const ExecutionPtr dying = fixture->execute("import os; os._exit(7)");
    const ExecutionPtr queued = fixture->execute("print('never')");
    co_await dying->finished.wait();
    CHECK(dying->result.status == ExecutionStatus::killed);
    CHECK(dying->result.reason.value_or("").find("exit code 7") != std::string::npos);
    CHECK(queued->result.status == ExecutionStatus::cancelled);
    CHECK(fixture->recorder.statuses.back() == SessionStatus::restarting);
    std::string code = "print('again')";
    const ExecutionPtr next = co_await fixture->finished(std::move(code));
    CHECK(next->result.status == ExecutionStatus::ok);
    CHECK(fixture->printed(queued).empty());
}

Task<void> restart_twice(Fixture* fixture) {
    const pid_t before = co_await fixture->kernel_pid();
    const ExecutionPtr running = fixture->execute(endless);
    const ExecutionPtr queued = fixture->execute("print('never')");
    std::string go = "go";
    co_await fixture->until_printed(running, std::move(go));
    fixture->others.spawn(fixture->restart());
    fixture->others.spawn(fixture->restart());
    co_await fixture->others.join();
    CHECK(fixture->outcomes == std::vector<std::string>{"busy", "restarted"});
    CHECK(running->result.status == ExecutionStatus::killed);
    CHECK(running->result.reason == "the session was restarted; its variables are gone");
    CHECK(queued->result.status == ExecutionStatus::cancelled);
    CHECK_FALSE(runs(before));
    const pid_t after = co_await fixture->kernel_pid();
    CHECK(after != before);
}

Task<void> restart_fails(Fixture* fixture) {
    const std::string here = fixture->workspace + "/sub";
    std::filesystem::remove(here);
    fixture->others.spawn(fixture->restart());
    std::function<bool()> restarting = [&] { return fixture->recorder.statuses.back() == SessionStatus::restarting; };
    co_await fixture->recorder.until(std::move(restarting));
    const ExecutionPtr waiting = fixture->execute("print('never')");
    co_await fixture->others.join();
    CHECK(fixture->outcomes == std::vector<std::string>{"kernelStartFailed"});
    CHECK(fixture->recorder.statuses.back() == SessionStatus::dead);
    CHECK(waiting->result.status == ExecutionStatus::cancelled); // not left to wait for what will not come
    CHECK(fixture->refusal("1") == ErrorCode::kernel_start_failed);
    std::filesystem::create_directory(here);
    fixture->others.spawn(fixture->restart());
    fixture->others.spawn(fixture->restart());
    co_await fixture->others.join();
    CHECK(fixture->outcomes == std::vector<std::string>{"kernelStartFailed", "busy", "restarted"});
    std::string code = "print('again')";
    const ExecutionPtr next = co_await fixture->finished(std::move(code));
    CHECK(next->result.status == ExecutionStatus::ok);
}

Task<void> close_while_running(Fixture* fixture) {
    const pid_t pid = co_await fixture->kernel_pid();
    const ExecutionPtr running = fixture->execute(endless);
    const ExecutionPtr queued = fixture->execute("print('never')");
    std::string go = "go";
    co_await fixture->until_printed(running, std::move(go));
    std::string reason = "enough";
    co_await fixture->session->close(std::move(reason));
    CHECK(running->result.status == ExecutionStatus::killed);
    CHECK(running->result.reason == "enough; its variables are gone");
    CHECK(queued->result.status == ExecutionStatus::cancelled);
    CHECK_FALSE(runs(pid));
    CHECK(fixture->recorder.statuses.back() == SessionStatus::dead);
    CHECK(fixture->refusal("1") == ErrorCode::session_not_found);
    fixture->others.spawn(fixture->restart());
    co_await fixture->others.join();
    CHECK(fixture->outcomes == std::vector<std::string>{"sessionNotFound"});
}

Task<void> close_while_restarting(Fixture* fixture) {
    const pid_t pid = co_await fixture->kernel_pid();
    fixture->others.spawn(fixture->restart());
    std::function<bool()> restarting = [&] { return fixture->recorder.statuses.back() == SessionStatus::restarting; };
    co_await fixture->recorder.until(std::move(restarting));
    const ExecutionPtr waiting = fixture->execute("print('never')");
    std::string reason = "enough";
    co_await fixture->session->close(std::move(reason));
    co_await fixture->others.join();
    CHECK(fixture->outcomes == std::vector<std::string>{"sessionNotFound"});
    CHECK(waiting->result.status == ExecutionStatus::cancelled);
    CHECK_FALSE(runs(pid));
    CHECK(fixture->recorder.statuses.back() == SessionStatus::dead);
}

Task<void> prompt_is_withdrawn(Fixture* fixture) {
    const ExecutionPtr asking = fixture->execute("input('name? ')");
    std::function<bool()> asked = [&] { return !fixture->recorder.prompts.empty(); };
    co_await fixture->recorder.until(std::move(asked));
    CHECK(fixture->recorder.prompts == std::vector<std::string>{"name? "});
    CHECK(fixture->recorder.withdrawn == 0);
    CHECK_FALSE(co_await fixture->session->cancel(asking, 30s, false));
    CHECK(asking->result.status == ExecutionStatus::cancelled);
    CHECK(fixture->recorder.withdrawn == 1);
}

// Its output channel is slower than the one for prompts, as it may be under load.
Task<void> prompt_after_output(Fixture* fixture) {
    std::string slow = "k = get_ipython().kernel\n"
                       "send = k.session.send\n"
                       "def reordered(stream, msg, *args, **kwargs):\n"
                       "    sent = send(stream, msg, *args, **kwargs)\n"
                       "    if msg == 'input_request':\n"
                       "        send(k.iopub_socket, 'stream', {'name': 'stdout', 'text': 'printed before'},\n"
                       "             parent=get_ipython().parent_header)\n"
                       "    return sent\n"
                       "k.session.send = reordered";
    co_await fixture->finished(std::move(slow));
    const ExecutionPtr asking = fixture->execute("input('name? ')");
    std::function<bool()> asked = [&] { return !fixture->recorder.prompts.empty(); };
    co_await fixture->recorder.until(std::move(asked));
    CHECK(fixture->recorder.before_prompts.front().find("printed before") != std::string::npos);
    co_await fixture->session->cancel(asking, 30s, false);
}

Task<void> late_output(Fixture* fixture) {
    std::string code = "parent = get_ipython().parent_header\nprint('before')";
    const ExecutionPtr first = co_await fixture->finished(std::move(code));
    CHECK_FALSE(fixture->recorder.late);
    const std::uint64_t bytes = first->result.output_bytes;
    // As a thread of the first one does: what it sends names the first as its parent.
    std::string behind =
        "k = get_ipython().kernel\n"
        "k.session.send(k.iopub_socket, 'stream', {'name': 'stdout', 'text': 'behind'}, parent=parent)";
    co_await fixture->finished(std::move(behind));
    CHECK(fixture->printed(first).find("behind") != std::string::npos);
    CHECK(fixture->recorder.late);
    CHECK(first->journal.page(0, 1 << 20).read().back().late);
    CHECK(first->result.output_bytes == bytes);
}

} // namespace

TEST_CASE("executions run one after the other; one that waits can be removed, one that runs is interrupted") {
    Fixture fixture;
    fixture.run(in_order(&fixture));
}

TEST_CASE("an error cancels what the same client queued behind it, and nothing of others") {
    Fixture fixture;
    fixture.run(errors_stop(&fixture));
}

TEST_CASE("code that ignores interrupts ends with its kernel when its time is over, and the next one runs") {
    Fixture fixture;
    fixture.run(timeout_kills(&fixture));
}

TEST_CASE("code that ignores interrupts is ended by force alone") {
    Fixture fixture;
    fixture.run(cancel_forces(&fixture));
}

TEST_CASE("a kernel that dies is named as the cause, cancels what waits, and is replaced") {
    Fixture fixture;
    fixture.run(kernel_dies(&fixture));
}

TEST_CASE("of two restarts at once one happens, and nothing of the old kernel runs") {
    Fixture fixture;
    fixture.run(restart_twice(&fixture));
}

TEST_CASE("a session without a kernel refuses code at once, and can be restarted, once") {
    Fixture fixture;
    fixture.run(restart_fails(&fixture));
}

TEST_CASE("closing ends what runs and what waits, and leaves no process") {
    Fixture fixture;
    fixture.run(close_while_running(&fixture));
}

TEST_CASE("closing during a restart leaves no process") {
    Fixture fixture;
    fixture.run(close_while_restarting(&fixture));
}

TEST_CASE("a prompt is withdrawn before its execution has a result") {
    Fixture fixture;
    fixture.run(prompt_is_withdrawn(&fixture));
}

TEST_CASE("what a cell printed before input() is delivered before the prompt") {
    Fixture fixture;
    fixture.run(prompt_after_output(&fixture));
}

TEST_CASE("output that names an execution which has ended goes there, as late") {
    Fixture fixture;
    fixture.run(late_output(&fixture));
}
