// A whole sidecar with its clients in memory.

#include "base/environment.hpp"
#include "base/sync.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/sessions.hpp"
#include "protocol/peer.hpp"
#include "service/sidecar.hpp"
#include "service_fixture.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace cellgate;
using namespace cellgate::service;

namespace {

const Empty nothing;

struct ClientEnd {
    explicit ClientEnd(std::shared_ptr<protocol::Connection> connection)
        : peer(std::move(connection), protocol::Dialect::editor) {}
    protocol::Peer peer;
    Event served; // the sidecar has let go of it
};

struct Fixture {
    Fixture() {
        SidecarOptions options;
        options.workspace = folder.path / "workspace";
        std::filesystem::create_directory(options.workspace);
        options.environment = process_environment();
        options.environment["XDG_STATE_HOME"] = folder.path / "state";
        options.environment["XDG_CONFIG_HOME"] = folder.path / "config";
        options.environment["XDG_RUNTIME_DIR"] = folder.path / "runtime";
        sidecar = std::make_unique<Sidecar>(loop, std::move(options));
    }
    void run(Task<void> test) { loop.run(finally(std::move(test), close())); }
    Task<void> close() {
        for (const std::shared_ptr<ClientEnd>& client : clients) {
            client->peer.close();
        }
        co_await tasks.join();
        co_await sidecar->close();
        CHECK(kernel_directories() == 0);
    }

    Task<std::shared_ptr<ClientEnd>> connect(protocol::Role role) {
        service_fixture::ConnectionPair pair;
        auto client = std::make_shared<ClientEnd>(pair.theirs);
        clients.push_back(client);
        tasks.spawn(client->peer.run());
        tasks.spawn(serve(client, pair.ours, role));
        protocol::InitializeParams params;
        params.client_info = {"test", "1"};
        co_await client->peer.call<protocol::Initialize>(std::move(params));
        co_return client;
    }
    Task<void> serve(std::shared_ptr<ClientEnd> client, std::shared_ptr<protocol::Connection> connection,
                     protocol::Role role) {
        co_await sidecar->serve(std::move(connection), role);
        client->served.set();
    }
    // "ok", or the kind of the error.
    template <class Method>
    Task<std::string> outcome(std::shared_ptr<ClientEnd> client, typename Method::Params params) {
        std::string outcome = "ok";
        try {
            co_await client->peer.call<Method>(std::move(params));
        } catch (const Error& error) {
            outcome = kind_of(error.code);
        }
        co_return outcome;
    }
    template <class Method>
    Task<void> note_outcome(std::shared_ptr<ClientEnd> client, typename Method::Params params) {
        const std::string ended = co_await outcome<Method>(std::move(client), std::move(params));
        outcomes.push_back(ended);
    }
    std::size_t kernel_directories() const {
        const std::filesystem::directory_iterator found(folder.path / "runtime/cellgate");
        return static_cast<std::size_t>(std::distance(begin(found), end(found)));
    }

    TempFolder folder;
    async::Loop loop;
    std::unique_ptr<Sidecar> sidecar;
    std::vector<std::shared_ptr<ClientEnd>> clients;
    std::vector<std::string> outcomes;
    TaskScope tasks;
};

protocol::SessionCreateParams unboxed(const std::string& id) {
    protocol::SessionCreateParams params;
    params.session_id = id;
    params.sandbox = protocol::SandboxChoice{false, std::nullopt, {}};
    return params;
}

Task<void> agent_widens(Fixture* fixture) {
    const std::shared_ptr<ClientEnd> agent = co_await fixture->connect(protocol::Role::agent);
    protocol::ExecuteParams execute;
    execute.code = "1";
    execute.approvals = protocol::ApprovalMode::allow;
    CHECK(co_await fixture->outcome<protocol::Execute>(agent, std::move(execute)) == "forbidden");
    protocol::SessionCreateParams bare = unboxed("bare");
    CHECK(co_await fixture->outcome<protocol::SessionCreate>(agent, std::move(bare)) == "forbidden");
    protocol::SessionCreateParams program;
    program.kernel.emplace();
    program.kernel->interpreter = "/usr/bin/python3";
    CHECK(co_await fixture->outcome<protocol::SessionCreate>(agent, std::move(program)) == "forbidden");
    const protocol::SessionListResult left = co_await agent->peer.call<protocol::SessionList>(nothing);
    CHECK(left.sessions.empty());
}

Task<void> closed_while_starting(Fixture* fixture) {
    const std::shared_ptr<ClientEnd> user = co_await fixture->connect(protocol::Role::user);
    fixture->tasks.spawn(fixture->note_outcome<protocol::SessionCreate>(user, unboxed("s")));
    while (fixture->kernel_directories() == 0) {
        co_await fixture->loop.yield();
    }
    protocol::SessionParams close{"s"};
    CHECK(co_await fixture->outcome<protocol::SessionClose>(user, std::move(close)) == "ok");
    CHECK(fixture->kernel_directories() == 0);
    const protocol::SessionListResult left = co_await user->peer.call<protocol::SessionList>(nothing);
    CHECK(left.sessions.empty());
    CHECK(fixture->outcomes == std::vector<std::string>{"sessionNotFound"});
}

Task<void> client_vanishes(Fixture* fixture) {
    const std::shared_ptr<ClientEnd> first = co_await fixture->connect(protocol::Role::user);
    const std::shared_ptr<ClientEnd> second = co_await fixture->connect(protocol::Role::user);
    protocol::SessionCreateParams create = unboxed("s");
    co_await first->peer.call<protocol::SessionCreate>(std::move(create));
    protocol::ExecuteParams params;
    params.execution_id = "mine";
    params.session_id = "s";
    params.code = "import os, time\nwhile not os.path.exists('gone'): time.sleep(0.01)\nprint('done')";
    fixture->tasks.spawn(fixture->note_outcome<protocol::Execute>(first, std::move(params)));
    protocol::ExecutionParams mine{"mine"};
    std::string known;
    while (known != "ok") {
        known = co_await fixture->outcome<protocol::ExecutionGet>(second, mine);
    }
    first->peer.close();
    co_await first->served.wait();
    CHECK(fixture->outcomes == std::vector<std::string>{"internalError"});
    std::ofstream(fixture->folder.path / "workspace/gone") << "";
    protocol::ExecuteParams behind;
    behind.session_id = "s";
    behind.code = "1";
    co_await second->peer.call<protocol::Execute>(std::move(behind));
    const protocol::ExecutionInfo info = co_await second->peer.call<protocol::ExecutionGet>(std::move(mine));
    REQUIRE(info.result);
    CHECK(info.result->status == protocol::ExecutionStatus::ok);
    protocol::OutputReadParams read;
    read.execution_id = "mine";
    const protocol::OutputReadResult output = co_await second->peer.call<protocol::OutputRead>(std::move(read));
    CHECK(output.complete);
    REQUIRE(output.records.size() == 1);
    CHECK(output.records.front().output->text().find("done") != std::string::npos);
}

Task<void> shutdown_while_running(Fixture* fixture) {
    const std::shared_ptr<ClientEnd> user = co_await fixture->connect(protocol::Role::user);
    protocol::SessionCreateParams create = unboxed("s");
    co_await user->peer.call<protocol::SessionCreate>(std::move(create));
    protocol::ExecuteParams params;
    params.session_id = "s";
    params.code = "while True: pass";
    fixture->tasks.spawn(fixture->note_outcome<protocol::Execute>(user, std::move(params)));
    co_await user->peer.call<protocol::Shutdown>(nothing);
    // fixture->run() closes the sidecar, and checks that nothing of the kernel is left.
}

} // namespace

TEST_CASE("an agent gets no grant for everything, no session without a sandbox and no program of its choice") {
    Fixture fixture;
    fixture.run(agent_widens(&fixture));
}

TEST_CASE("a session that is closed while it starts leaves nothing, and the waiting client gets an error") {
    Fixture fixture;
    fixture.run(closed_while_starting(&fixture));
}

TEST_CASE("a client that vanishes leaves its execution running into the journal") {
    Fixture fixture;
    fixture.run(client_vanishes(&fixture));
}

TEST_CASE("a sidecar that ends while code runs leaves nothing behind") {
    Fixture fixture;
    fixture.run(shutdown_while_running(&fixture));
}
