#include "async/loop.hpp"
#include "base/fake_clock.hpp"
#include "elicitations.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

using namespace cellgate;
using namespace cellgate::service;
using namespace std::chrono_literals;

namespace {

struct ShowingClient final : ElicitationClient {
    void on_elicitation_requested(const protocol::Elicitation& elicitation) override {
        requested.push_back(elicitation.elicitation_id);
    }
    void on_elicitation_resolved(const protocol::ElicitationResolvedParams& params) override {
        resolved.push_back(params);
    }

    std::vector<std::string> requested;
    std::vector<protocol::ElicitationResolvedParams> resolved;
};

struct Fixture {
    Fixture() {
        gate::GateOptions options;
        options.root = folder.path.string();
        options.policy_directory = "/nonexistent/policy";
        options.run_blocking = [this](std::function<void()> work) { return loop.run_blocking(std::move(work)); };
        gate = std::make_unique<gate::Gate>(clock, options);
        elicitations = std::make_unique<Elicitations>(clock, *gate);
    }
    ~Fixture() {
        tasks.spawn(close());
        CHECK(tasks.running() == 0);
    }
    Task<void> close() {
        co_await elicitations->close();
        co_await gate->close();
    }
    Task<void> keep(std::optional<tools::ElicitationReply>* reply, protocol::Elicitation question) {
        tools::ValuesCheck check = [](const std::optional<RawJson>& values) {
            if (!values) {
                throw Error(ErrorCode::answer_invalid, "day: has to be filled in");
            }
            return *values;
        };
        *reply = co_await elicitations->elicit(std::move(question), std::move(check));
    }
    std::shared_ptr<CancelState> ask(std::optional<tools::ElicitationReply>* reply,
                                     std::optional<std::string> execution_id = std::nullopt) {
        protocol::Elicitation question;
        question.server = "booking";
        question.execution_id = std::move(execution_id);
        return tasks.spawn(keep(reply, std::move(question)));
    }
    void answer(const std::string& id, protocol::ElicitationAction action, std::optional<RawJson> values = {}) {
        protocol::ElicitationRespondParams params;
        params.elicitation_id = id;
        params.action = action;
        params.values = std::move(values);
        elicitations->respond(params);
    }

    std::deque<ShowingClient> clients; // which its end still notifies
    std::deque<std::optional<tools::ElicitationReply>> replies;
    TempFolder folder;
    async::Loop loop;
    FakeClock clock;
    std::unique_ptr<gate::Gate> gate;
    std::unique_ptr<Elicitations> elicitations;
    TaskScope tasks;
};

} // namespace

TEST_CASE("every client is asked, a later one too, and the first answer wins") {
    Fixture fixture;
    ShowingClient& first = fixture.clients.emplace_back();
    ShowingClient& later = fixture.clients.emplace_back();
    CHECK_FALSE(fixture.elicitations->can_ask());
    fixture.elicitations->attach(first);
    CHECK(fixture.elicitations->can_ask());
    std::optional<tools::ElicitationReply>& reply = fixture.replies.emplace_back();
    fixture.ask(&reply);
    fixture.elicitations->attach(later);
    REQUIRE(first.requested.size() == 1);
    CHECK(later.requested == first.requested);
    fixture.answer(first.requested[0], protocol::ElicitationAction::accept, RawJson::parse(R"({"day":1})"));
    REQUIRE(reply);
    CHECK(reply->content->text() == R"({"day":1})");
    REQUIRE(later.resolved.size() == 1);
    CHECK(later.resolved[0].by == protocol::ResolvedBy::user);
    CHECK_THROWS_AS(fixture.answer(first.requested[0], protocol::ElicitationAction::decline), Error);
}

TEST_CASE("an answer that does not fit changes nothing") {
    Fixture fixture;
    ShowingClient& client = fixture.clients.emplace_back();
    fixture.elicitations->attach(client);
    std::optional<tools::ElicitationReply>& reply = fixture.replies.emplace_back();
    fixture.ask(&reply);
    CHECK_THROWS_WITH_AS(fixture.answer(client.requested.at(0), protocol::ElicitationAction::accept),
                         "day: has to be filled in", Error);
    CHECK_FALSE(reply);
    CHECK(client.resolved.empty());
    fixture.answer(client.requested.at(0), protocol::ElicitationAction::decline);
    CHECK(reply->action == protocol::ElicitationAction::decline);
}

TEST_CASE("a call that ends withdraws its question") {
    Fixture fixture;
    ShowingClient& client = fixture.clients.emplace_back();
    fixture.elicitations->attach(client);
    std::optional<tools::ElicitationReply>& reply = fixture.replies.emplace_back();
    const std::shared_ptr<CancelState> call = fixture.ask(&reply);
    call->cancel();
    REQUIRE(client.resolved.size() == 1);
    CHECK(client.resolved[0].by == protocol::ResolvedBy::cancelled);
    CHECK(client.resolved[0].action == protocol::ElicitationAction::cancel);
    CHECK_FALSE(reply);
}

TEST_CASE("after the last client questions wait for one that comes back, and end then") {
    for (const bool comes_back : {true, false}) {
        Fixture fixture;
        ShowingClient& client = fixture.clients.emplace_back();
        fixture.elicitations->attach(client);
        std::optional<tools::ElicitationReply>& reply = fixture.replies.emplace_back();
        fixture.ask(&reply);
        fixture.elicitations->detach(client, 10s);
        CHECK(fixture.elicitations->can_ask());
        if (comes_back) {
            fixture.elicitations->attach(client);
            CHECK(client.requested.size() == 2);
        }
        fixture.clock.advance(11s);
        CHECK(reply.has_value() == !comes_back);
        CHECK(fixture.elicitations->can_ask() == comes_back);
    }
    Fixture fixture;
    ShowingClient& client = fixture.clients.emplace_back();
    fixture.elicitations->attach(client);
    std::optional<tools::ElicitationReply>& reply = fixture.replies.emplace_back();
    fixture.ask(&reply);
    fixture.elicitations->detach(client, 0s);
    REQUIRE(reply);
    CHECK(reply->action == protocol::ElicitationAction::cancel);
}

TEST_CASE("while a question waits, its execution's clock stands still") {
    Fixture fixture;
    ShowingClient& client = fixture.clients.emplace_back();
    fixture.elicitations->attach(client);
    std::vector<std::size_t> pending;
    gate::ExecutionGrants execution;
    execution.session_id = "s";
    execution.execution_id = "x";
    execution.on_pending = [&pending](std::size_t count) { pending.push_back(count); };
    fixture.gate->begin_execution(std::move(execution));
    std::optional<tools::ElicitationReply>& reply = fixture.replies.emplace_back();
    fixture.ask(&reply, "x");
    CHECK(pending == std::vector<std::size_t>{1});
    fixture.answer(client.requested.at(0), protocol::ElicitationAction::cancel);
    CHECK(pending == std::vector<std::size_t>{1, 0});
}

TEST_CASE("a value is secret by its field, and where nothing is known of it") {
    Fixture fixture;
    std::optional<tools::ElicitationReply> reply;
    protocol::Elicitation question;
    question.fields.emplace(2);
    question.fields->front().name = "site";
    question.fields->back().name = "token";
    question.fields->back().secret = true;
    ShowingClient& client = fixture.clients.emplace_back();
    fixture.elicitations->attach(client);
    fixture.tasks.spawn(fixture.keep(&reply, std::move(question)));
    const std::string id = client.requested.at(0);
    CHECK(fixture.elicitations->is_secret(id, "token"));
    CHECK_FALSE(fixture.elicitations->is_secret(id, "site"));
    CHECK(fixture.elicitations->is_secret(id, "other"));
    fixture.answer(id, protocol::ElicitationAction::decline);
    CHECK(fixture.elicitations->is_secret(id, "site"));
}
