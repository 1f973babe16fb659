#include "base/fake_clock.hpp"
#include "record/record_reader.hpp"
#include "service_fixture.hpp"
#include "session_events.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace cellgate;
using namespace cellgate::service;
using namespace std::chrono_literals;

namespace {

struct Fixture {
    void change(protocol::ExecutionState state) {
        execution.state = state;
        events.on_execution_changed(execution, std::nullopt);
    }
    ~Fixture() {
        TaskScope closing;
        closing.spawn(activity.close());
        REQUIRE(closing.running() == 0);
    }
    static protocol::ExecuteParams params() {
        protocol::ExecuteParams params;
        params.cell = protocol::CellPosition{"file:///a.py", 3};
        return params;
    }

    TempFolder folder;
    FakeClock clock;
    store::Journals journals{folder.path, run_inline};
    store::Ledger ledger{journals.directory()};
    ClientHub clients;
    IdleTracker idle_tracker{clock};
    ActivityRecord activity{clock, run_inline, folder.path / "record", {}};
    WorkspaceChanges changes{clock, run_inline, {folder.path / "changes", folder.path}, activity, {}};
    Stats stats{clock, activity};
    gate::Gate gate{clock, service_fixture::gate_options(folder.path)};
    ResultReview review{gate, run_inline, clients};
    SessionSecrets secrets{clock};
    SessionEvents events{clients, idle_tracker, &ledger, activity, changes, stats, review, secrets};
    session::Execution execution{"one", params(), 1, "s", journals, clock};
};

} // namespace

TEST_CASE("an execution that is queued or runs keeps the sidecar for a client that will come back") {
    Fixture fixture;
    fixture.idle_tracker.client_connected();
    fixture.change(protocol::ExecutionState::queued);
    fixture.change(protocol::ExecutionState::running);
    fixture.idle_tracker.client_left(10s);
    fixture.clock.advance(1h);
    CHECK(fixture.idle_tracker.needed());
    fixture.change(protocol::ExecutionState::finished);
    CHECK(fixture.idle_tracker.needed());
    fixture.clock.advance(10s);
    CHECK_FALSE(fixture.idle_tracker.needed());
}

TEST_CASE("after a crash the ledger has the open sessions, and how far each execution came") {
    Fixture fixture;
    const std::string& directory = fixture.journals.directory();
    fixture.events.session_opened("s");
    fixture.events.session_opened("t");
    fixture.change(protocol::ExecutionState::queued);
    store::LedgerContents left = store::read_ledger(directory);
    CHECK(left.sessions == std::vector<std::string>{"s", "t"});
    REQUIRE(left.executions.size() == 1);
    CHECK(left.executions[0].execution_id == "one");
    CHECK(left.executions[0].session_id == "s");
    REQUIRE(left.executions[0].cell);
    CHECK(left.executions[0].cell->text().find("a.py") != std::string::npos);
    CHECK_FALSE(left.executions[0].started);
    fixture.change(protocol::ExecutionState::running);
    left = store::read_ledger(directory);
    REQUIRE(left.executions.size() == 1);
    CHECK(left.executions[0].started);
    CHECK_FALSE(left.executions[0].result);
    fixture.change(protocol::ExecutionState::finished);
    fixture.secrets.set("t", "TOKEN", "of t");
    fixture.secrets.set("s", "TOKEN", "of s");
    fixture.events.session_closed("t");
    CHECK_FALSE(fixture.secrets.find("t", "TOKEN"));
    CHECK(fixture.secrets.find("s", "TOKEN") == "of s");
    left = store::read_ledger(directory);
    CHECK(left.sessions == std::vector<std::string>{"s"});
    REQUIRE(left.executions.size() == 1);
    CHECK(left.executions[0].result);
}

TEST_CASE("a sidecar whose work ends with its client keeps no ledger, and counts its executions all the same") {
    Fixture fixture;
    SessionEvents events(fixture.clients, fixture.idle_tracker, nullptr, fixture.activity, fixture.changes,
                         fixture.stats, fixture.review, fixture.secrets);
    events.session_opened("u");
    events.on_execution_changed(fixture.execution, std::nullopt);
    fixture.idle_tracker.client_connected();
    fixture.idle_tracker.drain();
    fixture.idle_tracker.client_left(0s);
    CHECK(fixture.idle_tracker.needed());
    const store::LedgerContents left = store::read_ledger(fixture.journals.directory());
    CHECK(left.sessions.empty());
    CHECK(left.executions.empty());
    fixture.execution.state = protocol::ExecutionState::finished;
    events.on_execution_changed(fixture.execution, std::nullopt);
    CHECK_FALSE(fixture.idle_tracker.needed());
}

TEST_CASE("the record has what ran in which session, and how it ended") {
    Fixture fixture;
    protocol::SessionInfo session;
    session.session_id = "s";
    session.kernel.name = "python3";
    session.kernel.language = "python";
    session.sandbox = protocol::SandboxKind::bwrap;
    session.agent = "scribe";
    fixture.events.session_started(session);
    fixture.change(protocol::ExecutionState::queued);
    fixture.change(protocol::ExecutionState::running);
    fixture.execution.result.status = protocol::ExecutionStatus::error;
    fixture.execution.result.error.emplace();
    fixture.execution.result.error->ename = "ValueError";
    fixture.change(protocol::ExecutionState::finished);
    fixture.events.session_closed("s");
    fixture.events.session_closed("that did not start");
    fixture.clock.advance(50ms);
    std::vector<std::string> types;
    for (const record::StoredEntry& entry : record::RecordReader(fixture.folder.path / "record").query({})) {
        types.push_back(json_member_text(entry.json, "type").value());
        if (types.back() == "execution.ended") {
            CHECK(json_member(entry.json, "data") ==
                  R"({"durationSeconds":0,"error":{"ename":"ValueError","evalue":""},)"
                  R"("status":"error","waitedSeconds":0})");
        } else if (types.back() == "session.created") {
            CHECK(json_member(entry.json, "data") ==
                  R"({"agent":"scribe","kernel":"python3","language":"python","sandbox":"bwrap"})");
        }
    }
    CHECK(types == std::vector<std::string>{"session.closed", "execution.ended", "execution.started", "kernel.started",
                                            "session.created"});
}
