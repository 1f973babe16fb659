#include "gate_fixture.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;

namespace {

// The user of an agent's program.
struct User final : gate::Elicitor {
    bool can_elicit(const gate::Request& request) const override { return request.agent->client == reachable; }
    Task<protocol::ApprovalElicitResult> elicit(gate::Agent, protocol::Approval approval, bool offered) override {
        asked.push_back(approval);
        offered_until_end = offered;
        try {
            co_await answered.wait();
        } catch (const Cancelled&) {
            ++withdrawn;
            throw;
        }
        if (fails) {
            throw Error(ErrorCode::internal_error, "the program has gone");
        }
        co_return result;
    }
    void answer(bool with_yes, Scope scope = Scope::once) {
        result.decision = with_yes ? Verdict::allow : Verdict::deny;
        result.scope = scope;
        answered.set();
        answered.reset();
    }
    std::uint64_t reachable = 7;
    std::vector<protocol::Approval> asked;
    Event answered;
    protocol::ApprovalElicitResult result;
    bool offered_until_end = false;
    bool fails = false;
    int withdrawn = 0;
};

// No user is attached.
struct Alone {
    Alone() {
        fixture.elicitor = &user;
        fixture.restart();
        fixture.gate->detach(fixture.user, Duration(0));
    }
    std::shared_ptr<Outcome> ask(const std::string& arguments = "{}", std::uint64_t client = 7) {
        gate::Request request;
        request.action = tool(arguments);
        request.session_id = "s";
        request.execution_id = execution;
        request.from_code = true;
        request.agent = gate::Agent{client, "claude"};
        return fixture.ask(std::move(request));
    }
    std::optional<std::string> execution;
    User user; // outlives the gate
    Fixture fixture;
};

} // namespace

TEST_CASE("a yes at the agent's program counts for exactly what was shown, once") {
    Alone alone;
    const auto call = alone.ask(R"({"path":"a"})");
    REQUIRE(alone.user.asked.size() == 1);
    CHECK(alone.user.asked[0].agent == "claude");
    CHECK(alone.user.asked[0].display.back() == "by agent claude");
    CHECK(call->waits());
    alone.user.answer(true);
    REQUIRE(call->allowed());
    CHECK(call->decision->by == ResolvedBy::elicitation);
    CHECK(arguments_of(*call).text() == R"({"path":"a"})");
    CHECK(!call->decision->rule);
    CHECK(alone.fixture.gate->policy_list().rules.empty());
    const auto again = alone.ask(R"({"path":"a"})");
    CHECK(again->waits());
    CHECK(alone.user.asked.size() == 2);
    alone.user.answer(false);
    REQUIRE(again->denied());
    CHECK(again->decision->by == ResolvedBy::elicitation);
}

TEST_CASE("the reason of a refusal at the agent's program says what it was") {
    for (const auto& [how, words] : std::initializer_list<std::pair<protocol::Refusal, const char*>>{
             {protocol::Refusal::declined, "said no"},
             {protocol::Refusal::cancelled, "closed the question without an answer"},
             {protocol::Refusal::not_ticked, "without ticking"}}) {
        Alone alone;
        const auto call = alone.ask();
        alone.user.result.how = how;
        alone.user.answer(false);
        REQUIRE(call->denied());
        CHECK(call->decision->reason.find(words) != std::string::npos);
    }
}

TEST_CASE("a yes until the cell ends covers exactly that payload of that agent, while the execution runs") {
    Alone alone;
    alone.fixture.run_execution("run-1");
    alone.execution = "run-1";
    const auto call = alone.ask(R"({"path":"a"})");
    REQUIRE(alone.user.asked.size() == 1);
    CHECK(alone.user.offered_until_end);
    alone.user.answer(true, Scope::execution);
    REQUIRE(call->allowed());
    CHECK(call->decision->rule);
    CHECK(alone.ask(R"({"path":"a"})")->allowed());
    CHECK(alone.user.asked.size() == 1);
    const auto other = alone.ask(R"({"path":"b"})");
    CHECK(other->waits());
    alone.user.answer(false);
    alone.fixture.gate->end_execution("run-1");
    alone.execution.reset();
    const auto later = alone.ask(R"({"path":"a"})");
    CHECK(later->waits());
    CHECK_FALSE(alone.user.offered_until_end);
    alone.user.answer(true, Scope::execution); // which was not offered
    REQUIRE(later->allowed());
    CHECK_FALSE(later->decision->rule);
}

TEST_CASE("only the agent's own program is asked, and a user who is attached comes first") {
    Alone alone;
    const auto other = alone.ask("{}", 8);
    REQUIRE(other->denied());
    CHECK(other->decision->reason.find("Tell your user") != std::string::npos);
    const auto of_a_user = alone.fixture.ask(tool("{}"));
    CHECK(of_a_user->denied());
    CHECK(alone.user.asked.empty());
    alone.fixture.gate->attach(alone.fixture.user);
    const auto call = alone.ask();
    CHECK(alone.user.asked.empty());
    CHECK(alone.fixture.user.requested.back().agent == "claude");
    alone.fixture.allow();
    CHECK(call->allowed());
}

TEST_CASE("a user who comes meanwhile can answer, and the question in the program is withdrawn") {
    Alone alone;
    const auto call = alone.ask();
    REQUIRE(alone.user.asked.size() == 1);
    alone.fixture.gate->attach(alone.fixture.user);
    REQUIRE(alone.fixture.user.requested.size() == 1);
    alone.fixture.deny();
    REQUIRE(call->denied());
    CHECK(call->decision->by == ResolvedBy::user);
    CHECK(alone.user.withdrawn == 1);
}

TEST_CASE("a user who comes and leaves without an answer leaves the question in the program") {
    Alone alone;
    const auto call = alone.ask();
    alone.fixture.gate->attach(alone.fixture.user);
    const auto asked_of_the_user = alone.ask();
    alone.fixture.gate->detach(alone.fixture.user, Duration(0));
    CHECK(asked_of_the_user->denied()); // the control
    REQUIRE(call->waits());
    alone.user.answer(true);
    CHECK(call->allowed());
}

TEST_CASE("a deny rule beats the program's yes, also one that comes while it is asked") {
    Alone alone;
    const auto call = alone.ask();
    REQUIRE(alone.user.asked.size() == 1);
    alone.fixture.add(rule(Effect::deny));
    REQUIRE(call->denied());
    CHECK(alone.user.withdrawn == 1);
    CHECK(alone.ask()->denied());
    CHECK(alone.user.asked.size() == 1);
}

TEST_CASE("a program that goes, or a call that is cancelled, is no yes") {
    Alone alone;
    const auto call = alone.ask();
    alone.user.fails = true;
    alone.user.answer(true);
    REQUIRE(call->denied());
    CHECK(call->decision->reason.find("the program has gone") != std::string::npos);
    const auto cancelled = alone.ask();
    cancelled->cancel->cancel();
    CHECK(cancelled->error == ErrorCode::request_cancelled);
    CHECK(alone.user.withdrawn == 1);
}

TEST_CASE("what is too long for the agent's own program is denied, not cut") {
    Alone alone;
    const auto call = alone.ask(R"({"text":")" + std::string(20'000, 'x') + R"("})");
    REQUIRE(call->denied());
    CHECK(alone.user.asked.empty());
    CHECK(call->decision->reason.find("too much for a question") != std::string::npos);
}

TEST_CASE("a policy that cannot be read while the program answers allows nothing") {
    Alone alone;
    const auto call = alone.ask();
    REQUIRE(alone.user.asked.size() == 1);
    std::filesystem::create_directories(alone.fixture.policy);
    write_text(alone.fixture.policy / "user.json", "not a policy");
    alone.user.answer(true);
    REQUIRE(call->denied());
}
