// The states of an execution, with a scripted kernel and a clock that stands still until it is
// moved: no test here waits for time.

#include "session_fixture.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>

using namespace cellgate;
using namespace cellgate::session;
using namespace std::chrono_literals;
using protocol::ExecutionState;
using protocol::ExecutionStatus;

namespace {

using ExecutionPtr = std::shared_ptr<Execution>;

struct Recorder final : IgnoringObserver {
    void on_session_changed(const protocol::SessionChangedParams&) override { happened.set(); }
    void on_execution_waits(const Execution& execution, std::optional<std::int64_t>) override {
        changes.push_back(execution.id + ":waits" + std::to_string(execution.waits_behind().value_or(0)));
        happened.set();
    }
    void on_execution_changed(const Execution& execution, std::optional<std::int64_t> position) override {
        const std::string suffix = position ? std::to_string(*position) : "";
        changes.push_back(execution.id + ":" + names[static_cast<int>(execution.state)] + suffix);
        happened.set();
    }
    void on_output(const Execution& execution, const protocol::OutputRecord& record) override {
        texts[execution.id] += record.output->text();
        happened.set();
    }

    static constexpr const char* names[] = {"queued", "running", "finished"};
    std::vector<std::string> changes;
    std::map<std::string, std::string> texts;
    Event happened;
};

struct Fixture : SessionFixture<Recorder> {
    explicit Fixture(bool restore_cwd = false, bool by_signal = false) {
        const std::string spec = folder + "/jupyter/kernels/fake";
        std::filesystem::create_directories(spec);
        std::ofstream(spec + "/kernel.json")
            << R"({"argv":["/usr/bin/python3",")" << FAKE_KERNEL << R"(","{connection_file}")"
            << (by_signal ? R"(,"--signal"],"interrupt_mode":"signal")" : R"(],"interrupt_mode":"message")")
            << R"(,"display_name":"Fake","language":"fake"})";
        SessionOptions options;
        options.kernel.name = "fake";
        options.cwd = workspace;
        options.restore_cwd = restore_cwd;
        open(std::move(options));
    }

    ExecutionPtr execute(const std::string& id, const std::string& code, std::optional<double> timeout = {},
                         ClientId client = 1) {
        protocol::ExecuteParams params;
        params.execution_id = id;
        params.code = code;
        params.timeout_seconds = timeout;
        return session->enqueue(std::move(params), client);
    }
    ExecutionPtr execute_of(const gate::Agent& agent, const std::string& id, const std::string& code) {
        protocol::ExecuteParams params;
        params.execution_id = id;
        params.code = code;
        return session->enqueue(std::move(params), agent.client, agent);
    }
    Task<void> until(std::function<bool()> condition) {
        while (!condition()) {
            recorder.happened.reset();
            co_await recorder.happened.wait();
        }
    }
    // The code says that it has begun.
    Task<void> until_printed(ExecutionPtr execution, std::string text) {
        std::function<bool()> printed = [this, execution, text] {
            return recorder.texts[execution->id].find(text) != std::string::npos;
        };
        co_await until(std::move(printed));
    }
    // Until as many tasks of the session wait for time.
    Task<void> until_sleeping(std::size_t sleepers) {
        while (clock.sleepers() < sleepers) {
            co_await loop.yield();
        }
    }
    Task<void> cancel(ExecutionPtr execution, Duration grace, bool force) {
        const bool still_runs = co_await session->cancel(execution, grace, force);
        outcomes.push_back(still_runs ? "still runs" : "ended");
    }
};

Task<void> changes_in_order(Fixture* fixture) {
    const ExecutionPtr a = fixture->execute("a", "print go\nwait file");
    const ExecutionPtr b = fixture->execute("b", "print b");
    const ExecutionPtr c = fixture->execute("c", "error");
    const ExecutionPtr d = fixture->execute("d", "print d");
    const ExecutionPtr e = fixture->execute("e", "print e", {}, 2);
    std::string go = "go";
    co_await fixture->until_printed(a, std::move(go));
    CHECK(a->state == ExecutionState::running);
    CHECK(fixture->session->position(*b) == 1);
    CHECK(fixture->session->position(*e) == 4);
    CHECK_THROWS_WITH_AS(fixture->execute("b", "print again"), doctest::Contains("which was used"), Error);
    std::ofstream(fixture->workspace + "/file") << "";
    co_await e->finished.wait();
    CHECK(a->result.status == ExecutionStatus::ok);
    CHECK(b->result.status == ExecutionStatus::ok);
    CHECK(c->result.status == ExecutionStatus::error);
    CHECK(d->result.status == ExecutionStatus::cancelled); // of the same client, behind the error
    CHECK(e->result.status == ExecutionStatus::ok);
    CHECK_THROWS_WITH_AS(fixture->execute("a", "print again"), doctest::Contains("which was used"), Error);
    // Each position is sent once: a queue of n costs n messages, not n squared.
    const std::vector<std::string> expected = {"a:queued0",  "b:queued1",  "c:queued2", "d:queued3",  "e:queued4",
                                               "a:running",  "a:finished", "b:running", "b:finished", "c:running",
                                               "c:finished", "d:finished", "e:running", "e:finished"};
    CHECK(fixture->recorder.changes == expected);
}

Task<void> agents_take_turns(Fixture* fixture) {
    std::unique_ptr<ExecutionTurns::Turn> elsewhere = fixture->turns.ask([] {});
    const ExecutionPtr first = fixture->execute("first", "print first"); // a user's needs none
    co_await first->finished.wait();
    CHECK(first->result.status == ExecutionStatus::ok);
    const gate::Agent agent{2, "an agent"};
    const ExecutionPtr a = fixture->execute_of(agent, "a", "print a");
    const ExecutionPtr b = fixture->execute_of(agent, "b", "print b");
    const auto waits = [](const ExecutionPtr& execution) {
        return [&execution] { return execution->waits_behind().has_value(); };
    };
    co_await fixture->until(waits(a));
    CHECK(a->waits_behind() == 1);
    CHECK(a->state == ExecutionState::queued);
    CHECK_FALSE(b->waits_behind());
    CHECK_FALSE(co_await fixture->session->cancel(a, 5s, false)); // what waits can be taken out of the queue
    CHECK(a->result.status == ExecutionStatus::cancelled);
    co_await fixture->until(waits(b));
    elsewhere.reset();
    co_await b->finished.wait();
    CHECK(b->result.status == ExecutionStatus::ok);
    const std::vector<std::string> expected = {"first:queued0", "first:running", "first:finished", "a:queued0",
                                               "b:queued1",     "a:waits1",      "a:finished",     "b:waits1",
                                               "b:running",     "b:finished"};
    CHECK(fixture->recorder.changes == expected);
    CHECK(fixture->turns.ask([] {})->has_come()); // none was kept
}

Task<void> timeout_interrupts(Fixture* fixture) {
    const ExecutionPtr slow = fixture->execute("slow", "print go\nhang", 30.0);
    const ExecutionPtr next = fixture->execute("next", "print next", 30.0);
    std::string go = "go";
    co_await fixture->until_printed(slow, std::move(go));
    fixture->clock.advance(29s);
    co_await fixture->until_sleeping(1);
    CHECK(slow->stop == StopReason::none);
    fixture->clock.advance(2s);
    co_await slow->finished.wait();
    CHECK(slow->result.status == ExecutionStatus::timeout);
    CHECK(slow->result.duration_seconds == doctest::Approx(31));
    co_await next->finished.wait();
    CHECK(next->result.status == ExecutionStatus::ok); // the time in the queue does not count
}

Task<void> approvals_stop_the_clock(Fixture* fixture) {
    const ExecutionPtr slow = fixture->execute("slow", "print go\nhang", 30.0);
    std::string go = "go";
    co_await fixture->until_printed(slow, std::move(go));
    slow->clock.set_pending(2);
    fixture->clock.advance(1h);
    slow->clock.set_pending(1);
    fixture->clock.advance(1h);
    slow->clock.set_pending(0);
    co_await fixture->until_sleeping(1);
    CHECK(slow->stop == StopReason::none);
    fixture->clock.advance(31s);
    co_await slow->finished.wait();
    CHECK(slow->result.status == ExecutionStatus::timeout);
    CHECK(slow->result.waited_seconds == doctest::Approx(7200));
}

Task<void> timeout_escalates(Fixture* fixture) {
    const ExecutionPtr deaf = fixture->execute("deaf", "print go\ndeaf", 30.0);
    const ExecutionPtr queued = fixture->execute("queued", "print never");
    std::string go = "go";
    co_await fixture->until_printed(deaf, std::move(go));
    fixture->clock.advance(30s);
    co_await fixture->until_sleeping(1); // the grace
    CHECK(deaf->stop == StopReason::timeout);
    fixture->clock.advance(4s);
    co_await fixture->until_sleeping(1);
    CHECK(deaf->state == ExecutionState::running);
    fixture->clock.advance(2s);
    co_await deaf->finished.wait();
    CHECK(deaf->result.status == ExecutionStatus::killed);
    CHECK(deaf->result.reason.value_or("").find("did not stop") != std::string::npos);
    CHECK(queued->result.status == ExecutionStatus::cancelled);
    const ExecutionPtr after = fixture->execute("after", "print after");
    co_await after->finished.wait();
    CHECK(after->result.status == ExecutionStatus::ok);
}

Task<void> cancels(Fixture* fixture) {
    const ExecutionPtr deaf = fixture->execute("deaf", "print go\ndeaf");
    const ExecutionPtr queued = fixture->execute("queued", "print never");
    std::string go = "go";
    co_await fixture->until_printed(deaf, std::move(go));
    CHECK_FALSE(co_await fixture->session->cancel(queued, 5s, true)); // removed; nothing is ended for it
    CHECK(queued->result.status == ExecutionStatus::cancelled);
    CHECK(deaf->state == ExecutionState::running);

    fixture->clock.advance(10s); // so that the code has surely begun: one interrupt will do
    fixture->others.spawn(fixture->cancel(deaf, 5s, false));
    co_await fixture->until_sleeping(1);
    fixture->clock.advance(5s);
    co_await fixture->others.join();
    CHECK(fixture->outcomes == std::vector<std::string>{"still runs"});
    CHECK(deaf->state == ExecutionState::running);

    fixture->others.spawn(fixture->cancel(deaf, 5s, true));
    co_await fixture->until_sleeping(1);
    fixture->clock.advance(5s);
    co_await fixture->others.join();
    CHECK(fixture->outcomes == std::vector<std::string>{"still runs", "ended"});
    CHECK(deaf->result.status == ExecutionStatus::killed);
    CHECK_FALSE(co_await fixture->session->cancel(deaf, 5s, true)); // over: nothing happens
}

Task<void> cancel_beats_timeout(Fixture* fixture) {
    const ExecutionPtr slow = fixture->execute("slow", "print go\nhang", 30.0);
    std::string go = "go";
    co_await fixture->until_printed(slow, std::move(go));
    CHECK_FALSE(co_await fixture->session->cancel(slow, 5s, false));
    CHECK(slow->result.status == ExecutionStatus::cancelled);
    CHECK(slow->result.error); // what the interrupt did
}

Task<void> interrupt_leaves_queue(Fixture* fixture) {
    fixture->session->interrupt(); // nothing runs: nothing happens
    const ExecutionPtr slow = fixture->execute("slow", "print go\nhang", {}, 1);
    const ExecutionPtr other = fixture->execute("other", "print other", {}, 2);
    std::string go = "go";
    co_await fixture->until_printed(slow, std::move(go));
    fixture->session->interrupt();
    co_await other->finished.wait();
    CHECK(slow->result.status == ExecutionStatus::error);
    CHECK(slow->result.error->ename == "KeyboardInterrupt");
    CHECK(other->result.status == ExecutionStatus::ok);
}

Task<void> deaths(Fixture* fixture) {
    for (const auto& [code, word] :
         std::map<std::string, std::string>{{"exit 3", "exit code 3"}, {"kill", "SIGKILL"}}) {
        CAPTURE(code);
        const ExecutionPtr dying = fixture->execute("dying" + word.substr(0, 2), "print go\n" + code);
        const ExecutionPtr queued = fixture->execute("queued" + word.substr(0, 2), "print never");
        co_await dying->finished.wait();
        CHECK(dying->result.status == ExecutionStatus::killed);
        CHECK(dying->result.reason.value_or("").find(word) != std::string::npos);
        CHECK(queued->result.status == ExecutionStatus::cancelled);
        const ExecutionPtr next = fixture->execute("next" + word.substr(0, 2), "print next");
        co_await next->finished.wait();
        CHECK(next->result.status == ExecutionStatus::ok);
    }
}

Task<void> memory_runs_out(Fixture* fixture) {
    const std::string count = fixture->folder + "/vmstat";
    std::ofstream(count) << "oom_kill 7\n";
    fixture->services.vmstat = count;
    const ExecutionPtr killed = fixture->execute("killed", "kill");
    co_await killed->finished.wait();
    CHECK(killed->result.status == ExecutionStatus::killed); // by somebody: the count stands still
    fixture->clock.advance(1min);
    const ExecutionPtr hungry = fixture->execute("hungry", "print go\nwait file\nkill");
    std::string go = "go";
    co_await fixture->until_printed(hungry, std::move(go));
    std::ofstream(count) << "oom_kill 8\n";
    std::ofstream(fixture->workspace + "/file") << "";
    co_await hungry->finished.wait();
    CHECK(hungry->result.status == ExecutionStatus::oom);
    CHECK(hungry->result.reason.value_or("").find("memory ran out") != std::string::npos);
    // What we end ourselves has its own reason, whatever else the machine suffers meanwhile.
    const ExecutionPtr deaf = fixture->execute("deaf", "print go\ndeaf");
    std::string again = "go";
    co_await fixture->until_printed(deaf, std::move(again));
    std::ofstream(count) << "oom_kill 9\n";
    CHECK_FALSE(co_await fixture->session->cancel(deaf, 0s, true));
    CHECK(deaf->result.status == ExecutionStatus::killed);
}

Task<void> stays_alive(Fixture* fixture) {
    for (const char* id : {"first", "second"}) {
        const ExecutionPtr execution = fixture->execute(id, "print here");
        co_await execution->finished.wait();
        CHECK(execution->result.status == ExecutionStatus::ok);
    }
    CHECK(fixture->session->info().execution_count == 2); // of one kernel
}

Task<void> long_queue(Fixture* fixture) {
    const ExecutionPtr first = fixture->execute("first", "print go\nwait file");
    std::string go = "go";
    co_await fixture->until_printed(first, std::move(go));
    for (int i = 0; i < 10'000; ++i) {
        fixture->execute("x" + std::to_string(i), "print x");
    }
    CHECK_THROWS_WITH_AS(fixture->execute("more", "print x"), doctest::Contains("10000 executions wait"), Error);
    const std::size_t told = fixture->recorder.changes.size();
    CHECK(told == 10'002);
    SandboxChange none;
    co_await fixture->session->restart(std::move(none));
    CHECK(fixture->recorder.changes.size() == told + 10'001);
    CHECK(first->result.status == ExecutionStatus::killed);
}

} // namespace

TEST_CASE("a queue runs in order, positions are sent once, and an error stops what its client queued behind it") {
    Fixture fixture;
    fixture.run(changes_in_order(&fixture));
}

TEST_CASE("an agent's execution waits for its turn, and a user's does not") {
    Fixture fixture;
    fixture.run(agents_take_turns(&fixture));
}

TEST_CASE("at its timeout an execution is interrupted; the time in the queue does not count") {
    Fixture fixture;
    fixture.run(timeout_interrupts(&fixture));
}

TEST_CASE("while an approval is pending the clock of an execution stands") {
    Fixture fixture;
    fixture.run(approvals_stop_the_clock(&fixture));
}

TEST_CASE("what does not stop within five seconds of its timeout loses its kernel") {
    Fixture fixture;
    fixture.run(timeout_escalates(&fixture));
}

TEST_CASE("cancelling removes what waits, interrupts what runs, and only by force ends the kernel") {
    Fixture fixture;
    fixture.run(cancels(&fixture));
}

TEST_CASE("what was cancelled is cancelled, however it then ended") {
    Fixture fixture;
    fixture.run(cancel_beats_timeout(&fixture));
}

TEST_CASE("an interrupt of the session ends what runs and leaves the queue") {
    Fixture fixture;
    fixture.run(interrupt_leaves_queue(&fixture));
}

TEST_CASE("a kernel with interrupt mode signal gets the signal") {
    Fixture fixture(false, true);
    fixture.run(interrupt_leaves_queue(&fixture));
}

TEST_CASE("a kernel that dies is the cause of its execution's end") {
    Fixture fixture;
    fixture.run(deaths(&fixture));
}

TEST_CASE("a kernel that the system ended for lack of memory is distinguished from one that a user killed") {
    Fixture fixture;
    fixture.run(memory_runs_out(&fixture));
}

TEST_CASE("a kernel whose language has no known change of directory is left where it is") {
    Fixture fixture(true);
    fixture.run(stays_alive(&fixture));
}

TEST_CASE("a queue has a bound, and costs one message an execution") {
    Fixture fixture;
    fixture.run(long_queue(&fixture));
}
