// A whole sidecar with its clients in memory.

#include "protocol/messages/executions.hpp"
#include "protocol/messages/sessions.hpp"
#include "protocol/peer.hpp"
#include "sandbox/launcher.hpp"
#include "service/sidecar.hpp"
#include "service_house.hpp"

#include <doctest/doctest.h>

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

struct House {
    House() {
        SidecarOptions options;
        options.root = folder.path + "/workspace";
        std::filesystem::create_directory(options.root);
        options.environment = sandbox::process_environment();
        options.environment["XDG_STATE_HOME"] = folder.path + "/state";
        options.environment["XDG_CONFIG_HOME"] = folder.path + "/config";
        options.environment["XDG_RUNTIME_DIR"] = folder.path + "/runtime";
        sidecar = std::make_unique<Sidecar>(loop, std::move(options));
    }
    void run(Task<void> test) { loop.run(whole(std::move(test))); }
    Task<void> whole(Task<void> test) {
        std::exception_ptr error;
        try {
            co_await std::move(test);
        } catch (...) {
            error = std::current_exception();
        }
        for (const std::shared_ptr<ClientEnd>& client : clients) {
            client->peer.close();
        }
        co_await tasks.join();
        co_await sidecar->close();
        CHECK(kernel_directories() == 0);
        if (error) {
            std::rethrow_exception(error);
        }
    }

    Task<std::shared_ptr<ClientEnd>> connect(protocol::Role role) {
        service_house::Line line;
        auto client = std::make_shared<ClientEnd>(line.theirs);
        clients.push_back(client);
        tasks.spawn(client->peer.run());
        tasks.spawn(serve(client, line.ours, role));
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
        const std::filesystem::directory_iterator found(folder.path + "/runtime/cellgate");
        return static_cast<std::size_t>(std::distance(begin(found), end(found)));
    }

    service_house::TemporaryFolder folder;
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

Task<void> agent_widens(House* house) {
    const std::shared_ptr<ClientEnd> agent = co_await house->connect(protocol::Role::agent);
    protocol::ExecuteParams execute;
    execute.code = "1";
    execute.approvals = protocol::ApprovalMode::allow;
    CHECK(co_await house->outcome<protocol::Execute>(agent, std::move(execute)) == "forbidden");
    protocol::SessionCreateParams bare = unboxed("bare");
    CHECK(co_await house->outcome<protocol::SessionCreate>(agent, std::move(bare)) == "forbidden");
    protocol::SessionCreateParams program;
    program.kernel.emplace();
    program.kernel->interpreter = "/usr/bin/python3";
    CHECK(co_await house->outcome<protocol::SessionCreate>(agent, std::move(program)) == "forbidden");
    const protocol::SessionListResult left = co_await agent->peer.call<protocol::SessionList>(nothing);
    CHECK(left.sessions.empty());
}

Task<void> closed_while_starting(House* house) {
    const std::shared_ptr<ClientEnd> person = co_await house->connect(protocol::Role::person);
    house->tasks.spawn(house->note_outcome<protocol::SessionCreate>(person, unboxed("s")));
    while (house->kernel_directories() == 0) {
        co_await house->loop.yield();
    }
    protocol::SessionParams close{"s"};
    CHECK(co_await house->outcome<protocol::SessionClose>(person, std::move(close)) == "ok");
    CHECK(house->kernel_directories() == 0);
    const protocol::SessionListResult left = co_await person->peer.call<protocol::SessionList>(nothing);
    CHECK(left.sessions.empty());
    CHECK(house->outcomes == std::vector<std::string>{"sessionNotFound"});
}

Task<void> client_vanishes(House* house) {
    const std::shared_ptr<ClientEnd> first = co_await house->connect(protocol::Role::person);
    const std::shared_ptr<ClientEnd> second = co_await house->connect(protocol::Role::person);
    protocol::SessionCreateParams create = unboxed("s");
    co_await first->peer.call<protocol::SessionCreate>(std::move(create));
    protocol::ExecuteParams params;
    params.execution_id = "mine";
    params.session_id = "s";
    params.code = "import os, time\nwhile not os.path.exists('gone'): time.sleep(0.01)\nprint('done')";
    house->tasks.spawn(house->note_outcome<protocol::Execute>(first, std::move(params)));
    protocol::ExecutionParams mine{"mine"};
    std::string known;
    while (known != "ok") {
        known = co_await house->outcome<protocol::ExecutionGet>(second, mine);
    }
    first->peer.close();
    co_await first->served.wait();
    CHECK(house->outcomes == std::vector<std::string>{"internalError"});
    std::ofstream(house->folder.path + "/workspace/gone") << "";
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

Task<void> shutdown_while_running(House* house) {
    const std::shared_ptr<ClientEnd> person = co_await house->connect(protocol::Role::person);
    protocol::SessionCreateParams create = unboxed("s");
    co_await person->peer.call<protocol::SessionCreate>(std::move(create));
    protocol::ExecuteParams params;
    params.session_id = "s";
    params.code = "while True: pass";
    house->tasks.spawn(house->note_outcome<protocol::Execute>(person, std::move(params)));
    co_await person->peer.call<protocol::Shutdown>(nothing);
    // house->run() closes the sidecar, and checks that nothing of the kernel is left.
}

} // namespace

TEST_CASE("an agent gets no grant for everything, no session without a sandbox and no program of its choice") {
    House house;
    house.run(agent_widens(&house));
}

TEST_CASE("a session that is closed while it starts leaves nothing, and who waits for it is told") {
    House house;
    house.run(closed_while_starting(&house));
}

TEST_CASE("a client that vanishes leaves its execution running into the journal") {
    House house;
    house.run(client_vanishes(&house));
}

TEST_CASE("a sidecar that ends while code runs leaves nothing behind") {
    House house;
    house.run(shutdown_while_running(&house));
}
