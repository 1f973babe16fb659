// Which client receives which notification and request, over the wire.

#include "base/fake_clock.hpp"
#include "client_hub.hpp"
#include "result_review.hpp"
#include "service_fixture.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::service;
using Texts = std::vector<std::string>;

namespace {

// A client of the hub, with its other end.
struct Connected {
    Connected(ClientHub& hub, protocol::Role role, const protocol::ClientCapabilities& can = {},
              RunBlocking run_blocking = run_inline)
        : client(std::make_shared<Client>(hub.new_id(), role, pair.ours, std::move(run_blocking))) {
        client->set_identity({"editor", "1"}, can);
        client->stage = Client::Stage::initialized;
        hub.add(client);
        end.on_notification<protocol::SessionChanged>(
            [this](const protocol::SessionChangedParams& changed) { told.push_back("session " + changed.session_id); });
        end.on_notification<protocol::ExecuteChanged>([this](const protocol::ExecuteChangedParams& changed) {
            told.push_back("execution " + changed.execution_id + (changed.agent ? " of " + *changed.agent : ""));
        });
        end.on_notification<protocol::ExecuteOutput>(
            [this](const protocol::ExecuteOutputParams& output) { told.push_back("output " + output.execution_id); });
        end.on_request<protocol::InputRequest>([this](const protocol::InputRequestParams& params) {
            told.push_back("asked " + params.prompt);
            return answer_input();
        });
        end.on_request<protocol::ApprovalElicit>([this](const protocol::ApprovalElicitParams&) { return decide(); });
        tasks.spawn(client->peer.run());
        tasks.spawn(end.run());
    }
    ~Connected() {
        end.close();
        tasks.spawn(client->outputs.close());
        REQUIRE(tasks.running() == 0);
    }
    static Task<protocol::InputRequestResult> answer_input() {
        protocol::InputRequestResult result;
        result.value = "Ada";
        co_return result;
    }
    Task<protocol::ApprovalElicitResult> decide() {
        protocol::ApprovalElicitResult result;
        result.decision = verdict;
        co_return result;
    }
    Texts take() { return std::exchange(told, {}); }

    service_fixture::ConnectionPair pair;
    std::shared_ptr<Client> client;
    protocol::Peer end{pair.theirs, protocol::Dialect::editor};
    protocol::Verdict verdict = protocol::Verdict::allow;
    Texts told;
    TaskScope tasks;
};

struct Fixture {
    session::Execution execution_of(const Connected& of, const std::string& id) {
        return {id, {}, of.client->id, "s", journals, clock};
    }
    void output(session::Execution& execution, const std::string& text) {
        protocol::OutputRecord record;
        record.output = RawJson::parse(R"({"output_type":"display_data","data":{"text/plain":"p","text/html":")" +
                                       text + R"("},"metadata":{}})");
        record.seq = execution.journal.append(*record.output, false);
        hub.output(execution, record);
    }
    // The outcome of a question; "none" if it was not asked.
    std::string ask_input(session::ClientId id) {
        std::string outcome;
        tasks.spawn(ask_into(id, &outcome));
        return outcome;
    }
    Task<void> ask_into(session::ClientId id, std::string* outcome) {
        protocol::InputRequestParams params;
        params.prompt = "Name: ";
        const std::optional<std::string> answer = co_await hub.ask_input(id, std::move(params));
        *outcome = answer.value_or("none");
    }
    std::optional<bool> elicit(const gate::Agent& agent) {
        std::optional<bool> outcome;
        tasks.spawn(elicit_into(agent, &outcome));
        return outcome;
    }
    bool can_elicit(const Connected& agent) const {
        gate::Request request;
        request.agent = agent.client->agent;
        request.session_id = "s";
        return hub.can_elicit(request);
    }
    Task<void> elicit_into(gate::Agent agent, std::optional<bool>* outcome) {
        protocol::Approval approval;
        const protocol::ApprovalElicitResult answer = co_await hub.elicit(std::move(agent), std::move(approval), false);
        *outcome = answer.decision == protocol::Verdict::allow;
    }

    TempFolder folder;
    FakeClock clock;
    store::Journals journals{folder.path, run_inline};
    ClientHub hub;
    gate::Gate gate{clock, service_fixture::gate_options(folder.path)};
    ResultReview review{gate, run_inline, hub};
    TaskScope tasks;
};

protocol::SessionChangedParams changed() {
    protocol::SessionChangedParams params;
    params.session_id = "s";
    return params;
}

} // namespace

TEST_CASE("the users are notified of a session's changes, and no agent is") {
    Fixture fixture;
    Connected user(fixture.hub, protocol::Role::user);
    Connected other(fixture.hub, protocol::Role::user);
    Connected agent(fixture.hub, protocol::Role::agent);
    Connected early(fixture.hub, protocol::Role::user);
    early.client->stage = Client::Stage::connected;
    fixture.hub.notify_users<protocol::SessionChanged>(changed());
    CHECK(user.take() == Texts{"session s"});
    CHECK(other.take() == Texts{"session s"});
    CHECK(agent.take().empty());
    CHECK(early.take().empty());
    fixture.hub.remove(user.client->id);
    fixture.hub.notify_users<protocol::SessionChanged>(changed());
    CHECK(user.take().empty());
    CHECK(other.take() == Texts{"session s"});
}

TEST_CASE("its client and those attached to its session follow an execution, until that session has ended") {
    Fixture fixture;
    Connected own(fixture.hub, protocol::Role::user);
    Connected attached(fixture.hub, protocol::Role::user);
    Connected stranger(fixture.hub, protocol::Role::user);
    attached.client->attached.insert("s");
    session::Execution execution = fixture.execution_of(own, "one");
    fixture.hub.execution_changed(execution, 0);
    fixture.output(execution, "x");
    for (Connected* each : {&own, &attached}) {
        CHECK(each->take() == Texts{"execution one", "output one"});
    }
    CHECK(stranger.take().empty());
    fixture.hub.detach_all_from("s");
    fixture.hub.execution_changed(execution, 0);
    CHECK(own.take() == Texts{"execution one"});
    CHECK(attached.take().empty());
}

TEST_CASE("every user follows an agent's execution, in the agent's name, and no other agent does") {
    Fixture fixture;
    Connected user(fixture.hub, protocol::Role::user);
    Connected agent(fixture.hub, protocol::Role::agent);
    Connected other(fixture.hub, protocol::Role::agent);
    session::Execution execution = fixture.execution_of(agent, "one");
    execution.agent = agent.client->agent;
    fixture.hub.execution_changed(execution, std::nullopt);
    CHECK(user.take() == Texts{"execution one of editor"});
    CHECK(agent.take() == Texts{"execution one of editor"});
    CHECK(other.take().empty());
}

TEST_CASE("a change of an execution follows the output before it, however long that takes") {
    Fixture fixture;
    Event written;
    const RunBlocking slow = [&written](std::function<void()> work) -> Task<void> {
        return [](Event* written, std::function<void()> work) -> Task<void> {
            co_await written->wait();
            work();
        }(&written, std::move(work));
    };
    Connected own(fixture.hub, protocol::Role::user, {}, slow);
    own.client->outputs.use_files();
    session::Execution execution = fixture.execution_of(own, "one");
    fixture.output(execution, std::string(std::size_t{300} << 10, 'x')); // goes into a file
    fixture.hub.execution_changed(execution, std::nullopt);
    CHECK(own.take().empty());
    written.set();
    CHECK(own.take() == Texts{"output one", "execution one"});
}

TEST_CASE("input() is asked of a client that can answer, and of none that cannot or has left") {
    Fixture fixture;
    protocol::ClientCapabilities can;
    can.input = true;
    Connected able(fixture.hub, protocol::Role::user, can);
    Connected unable(fixture.hub, protocol::Role::user);
    CHECK(fixture.ask_input(able.client->id) == "Ada");
    CHECK(able.take() == Texts{"asked Name: "});
    CHECK(fixture.ask_input(unable.client->id) == "none");
    CHECK(unable.take().empty());
    fixture.hub.remove(able.client->id);
    CHECK(fixture.ask_input(able.client->id) == "none");
}

TEST_CASE("an agent's own user is asked only if its client can, and only an allow is a yes") {
    Fixture fixture;
    protocol::ClientCapabilities can;
    can.elicitation = true;
    Connected able(fixture.hub, protocol::Role::agent, can);
    Connected unable(fixture.hub, protocol::Role::agent);
    CHECK(fixture.can_elicit(able));
    CHECK_FALSE(fixture.can_elicit(unable));
    fixture.review.result_reviewed("s", nullptr, "gmail/list");
    CHECK_FALSE(fixture.can_elicit(able));
    fixture.review.session_is_new("s");
    CHECK(fixture.can_elicit(able));
    CHECK(fixture.elicit(*able.client->agent) == true);
    able.verdict = protocol::Verdict::deny;
    CHECK(fixture.elicit(*able.client->agent) == false);
    fixture.hub.remove(able.client->id);
    CHECK_FALSE(fixture.can_elicit(able));
}
