// Sessions while they start: none of these tests waits for a kernel.

#include "base/sync.hpp"
#include "client_hub.hpp"
#include "egress/network.hpp"
#include "sandbox/launcher.hpp"
#include "session_table.hpp"
#include "temp_folder.hpp"
#include "tools/registry.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace cellgate;
using namespace cellgate::service;
using Texts = std::vector<std::string>;

namespace {

struct Fixture {
    Fixture() {
        for (const char* name : {"workspace", "state", "config", "runtime"}) {
            std::filesystem::create_directory(folder.path / name);
        }
    }

    // Runs `test`, and closes the sessions that it left.
    void run(Task<void> test) { loop.run(whole(std::move(test))); }
    Task<void> whole(Task<void> test) {
        co_await finally(std::move(test), close());
        CHECK(sessions.all().empty());
        CHECK(std::filesystem::is_empty(directories.runtime));
    }
    Task<void> close() {
        co_await sessions.close_all();
        co_await tasks.join();
        co_await registry.close();
        co_await gate.close();
        co_await activity.close();
    }

    static session::SessionOptions options(const std::string& id, std::optional<session::ClientId> agent = {}) {
        session::SessionOptions options;
        options.id = id;
        options.cwd = "/";
        options.isolation = sandbox::Isolation::none;
        if (agent) {
            options.agent = gate::Agent{*agent, "agent"};
        }
        return options;
    }
    gate::GateOptions gate_options() {
        gate::GateOptions options;
        options.root = workspace.path;
        options.policy_directory = folder.path / "config/policy";
        options.run_blocking = [this](std::function<void()> work) { return loop.run_blocking(std::move(work)); };
        return options;
    }
    // Its outcome goes into `outcomes`, once there is one.
    void create(session::SessionOptions options) { tasks.spawn(note(sessions.create(std::move(options)))); }
    Task<void> note(Task<SessionTable::SessionPtr> starting) {
        std::string outcome = "ok";
        try {
            co_await std::move(starting);
        } catch (const Error& error) {
            outcome = kind_of(error.code);
        }
        outcomes.push_back(outcome);
    }
    Texts ids() const {
        Texts ids;
        for (const SessionTable::SessionPtr& session : sessions.all()) {
            ids.push_back(session->id());
        }
        return ids;
    }

    TempFolder folder;
    async::Loop loop;
    Workspace workspace{folder.path / "workspace", process_environment(), {}, nullptr, {}};
    store::Directories directories{folder.path / "state", folder.path / "config", folder.path / "runtime",
                                   folder.path / "data"};
    gate::Gate gate{loop.clock(), gate_options()};
    tools::Registry registry{loop, loop.clock(), gate,
                             tools::RegistryOptions{workspace.path, workspace.environment, {"cellgate", "0"}, nullptr}};
    store::Journals journals{folder.path, run_inline};
    std::unique_ptr<egress::Network> network = egress::make_system_network(loop);
    ClientHub clients;
    IdleTracker idle_tracker{loop.clock()};
    ActivityRecord activity{loop.clock(), run_inline, folder.path / "record", {}};
    WorkspaceChanges changes{loop.clock(), run_inline, {folder.path / "changes", folder.path}, activity, {}};
    Stats stats{loop.clock(), activity};
    ResultReview review{gate, run_inline, clients};
    SessionSecrets session_secrets{loop.clock()};
    SessionEvents events{clients, idle_tracker, nullptr, activity, changes, stats, review, session_secrets};
    session::ExecutionTurns turns{1};
    KnownSecrets secrets;
    session::SessionServices services{loop,     loop.clock(), gate,           registry.dispatcher(),
                                      *network, events,       directories,    journals,
                                      turns,    secrets,      workspace.path, workspace.environment};
    SessionTable sessions{services, workspace, events};
    Texts outcomes;
    TaskScope tasks;
};

Task<void> taken_while_starting(Fixture* fixture) {
    fixture->create(Fixture::options("s"));
    fixture->create(Fixture::options("s"));
    co_await fixture->loop.yield();
    CHECK(fixture->ids() == Texts{"s"});
    CHECK(fixture->outcomes == Texts{"sessionExists"});
}

Task<void> default_shared(Fixture* fixture) {
    fixture->tasks.spawn(fixture->note(fixture->sessions.find_or_start(std::nullopt)));
    fixture->tasks.spawn(fixture->note(fixture->sessions.find_or_start("default")));
    fixture->tasks.spawn(fixture->note(fixture->sessions.find_or_start("other")));
    co_await fixture->loop.yield();
    CHECK(fixture->ids() == Texts{"default"});
    CHECK(fixture->outcomes == Texts{"sessionNotFound"});
}

Task<void> not_started(Fixture* fixture) {
    for (int i = 0; i < 2; ++i) {
        session::SessionOptions options = Fixture::options("s");
        options.kernel.name = "no-such-kernel";
        co_await fixture->note(fixture->sessions.create(std::move(options)));
        CHECK(fixture->ids().empty());
    }
    CHECK(fixture->outcomes == Texts{"kernelNotFound", "kernelNotFound"});
}

Task<void> full(Fixture* fixture) {
    for (int i = 0; i < 9; ++i) {
        fixture->create(Fixture::options("agent-" + std::to_string(i), 1));
    }
    fixture->create(Fixture::options("agent-x", 2));
    fixture->create(Fixture::options("s"));
    co_await fixture->loop.yield();
    CHECK(fixture->sessions.all().size() == 10);
    CHECK(fixture->outcomes == Texts{"limitExceeded"});
    co_await fixture->sessions.close_sessions_of(1);
    CHECK(fixture->ids() == Texts{"agent-x", "s"});
}

} // namespace

TEST_CASE("a session has its id while it starts") {
    Fixture fixture;
    fixture.run(taken_while_starting(&fixture));
    CHECK(fixture.outcomes == Texts{"sessionExists", "sessionNotFound"}); // closed while it was starting
}

TEST_CASE("all who ask for the default session at once get the same one, and no other id starts one") {
    Fixture fixture;
    fixture.run(default_shared(&fixture));
}

TEST_CASE("a session that does not start gives its id up") {
    Fixture fixture;
    fixture.run(not_started(&fixture));
}

TEST_CASE("an agent has at most eight sessions, which end with it, and takes none from others") {
    Fixture fixture;
    fixture.run(full(&fixture));
}
