#include "base/hash.hpp"
#include "base/json_codec.hpp"
#include "gate_fixture.hpp"
#include "payload.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;

namespace {

// A security key, and who touches it.
struct Key final : gate::Confirmer {
    Task<protocol::Confirmation> confirm(std::string text) override {
        texts.push_back(text);
        try {
            co_await touched.wait();
        } catch (const Cancelled&) {
            ++given_up;
            throw;
        }
        if (fails) {
            throw Error(ErrorCode::not_confirmed, "the security key did not sign");
        }
        protocol::Confirmation confirmation;
        confirmation.text = std::move(text);
        confirmation.public_key = "sk-ssh-ed25519@openssh.com AAAA";
        confirmation.signature = "signature";
        co_return confirmation;
    }
    void touch() {
        touched.set();
        touched.reset();
    }
    std::vector<std::string> texts;
    Event touched;
    bool fails = false;
    int given_up = 0;
};

RuleSpec ask_with_touch(std::optional<std::string> tool_name = "send") {
    RuleSpec spec = rule(Effect::ask, ActionKind::tool, "gmail", std::move(tool_name));
    spec.confirm = protocol::ConfirmationMeans::touch;
    return spec;
}

Action send(const std::string& to = "ada") {
    return tool(R"({"to":")" + to + R"("})", "send", "gmail");
}

struct WithKey {
    WithKey() {
        fixture.confirmer = &key;
        fixture.restart();
        fixture.add(ask_with_touch());
    }
    using Responding = std::shared_ptr<Result<bool>>;
    Responding begin(Verdict verdict, Scope scope = Scope::once, std::optional<RuleSpec> grant = std::nullopt,
                     std::vector<std::string> ids = {}) {
        protocol::ApprovalRespondParams params;
        params.approval_ids = ids.empty() ? std::vector{fixture.user.last_id()} : std::move(ids);
        params.decision = verdict;
        params.scope = scope;
        params.rule = std::move(grant);
        return fixture.start(then_true(fixture.gate->respond(std::move(params))));
    }
    static std::optional<ErrorCode> error_of(const Responding& responding) {
        return gate_fixture::error_of([&] { responding->take(); });
    }
    Key key; // outlives the gate
    Fixture fixture;
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a yes to an ask rule with confirm counts once the key was touched for what was shown") {
    WithKey with;
    const auto call = with.fixture.ask(send());
    const protocol::Approval asked = with.fixture.user.requested.back();
    CHECK(asked.confirm == protocol::ConfirmationMeans::touch);
    CHECK(asked.display.back() == "a yes has to be confirmed by a touch of your security key");
    const auto responding = with.begin(Verdict::allow);
    CHECK(call->waits());
    CHECK(!responding->ended());
    with.key.touch();
    CHECK(responding->take());
    REQUIRE(call->allowed());
    std::string shown;
    for (const std::string& line : asked.display) {
        shown += line + "\n";
    }
    REQUIRE(with.key.texts.size() == 1);
    const std::string& text = with.key.texts.front();
    CHECK(text.starts_with("cellgate approval\nid " + asked.approval_id + "\ndecision allow\nscope once\npayload "));
    CHECK(text.ends_with("\nshown " + sha256(shown) + "\n"));
    const protocol::PastDecision past = with.fixture.gate->policy_decisions().decisions.front();
    REQUIRE(past.confirmation);
    CHECK(past.confirmation->text == text);
}

TEST_CASE("without confirm no key is asked, and a no needs none") {
    WithKey with;
    const auto other = with.fixture.ask(tool("{}", "list", "gmail"));
    CHECK(!with.fixture.user.requested.back().confirm);
    with.fixture.allow();
    CHECK(other->allowed());
    const auto call = with.fixture.ask(send());
    with.fixture.deny();
    CHECK(call->denied());
    CHECK(with.key.texts.empty());
    CHECK(!with.fixture.gate->policy_decisions().decisions.front().confirmation);
}

TEST_CASE("an answer that is not confirmed leaves the question, and the next one counts") {
    WithKey with;
    const auto call = with.fixture.ask(send());
    with.key.fails = true;
    const auto refused = with.begin(Verdict::allow);
    with.key.touch();
    CHECK(WithKey::error_of(refused) == ErrorCode::not_confirmed);
    CHECK(call->waits());
    CHECK(with.fixture.user.resolved.empty());
    with.key.fails = false;
    const auto confirmed = with.begin(Verdict::allow);
    with.key.touch();
    CHECK(confirmed->take());
    CHECK(call->allowed());
}

TEST_CASE("without a key a yes is refused, and a no is not") {
    Fixture fixture;
    fixture.add(ask_with_touch());
    const auto call = fixture.ask(send());
    CHECK(error_of([&] { fixture.allow(); }) == ErrorCode::not_confirmed);
    CHECK(call->waits());
    fixture.deny();
    CHECK(call->denied());
}

TEST_CASE("while one answer is being confirmed another one counts, and ends the wait for the key") {
    WithKey with;
    const auto call = with.fixture.ask(send());
    const auto first = with.begin(Verdict::allow);
    const auto second = with.begin(Verdict::deny);
    CHECK(second->take());
    CHECK(call->denied());
    CHECK(WithKey::error_of(first) == ErrorCode::approval_resolved);
    CHECK(with.key.given_up == 1);
}

TEST_CASE("of two answers that are confirmed the first counts") {
    WithKey with;
    const auto call = with.fixture.ask(send());
    const auto first = with.begin(Verdict::allow);
    const auto second = with.begin(Verdict::allow);
    CHECK(with.key.texts.size() == 2);
    with.key.touch();
    CHECK(first->take());
    CHECK(WithKey::error_of(second) == ErrorCode::approval_resolved);
    CHECK(call->allowed());
}

TEST_CASE("a touch confirms an edit and a rule, by their hashes, and all approvals of an answer") {
    WithKey with;
    const auto call = with.fixture.ask(send("ada"));
    const std::string first = with.fixture.user.last_id();
    const auto other = with.fixture.ask(send("bob"));
    const RuleSpec grant = rule(Effect::allow, ActionKind::tool, "gmail", "send");
    const auto responding = with.begin(Verdict::allow, Scope::session, grant, {first, with.fixture.user.last_id()});
    REQUIRE(with.key.texts.size() == 1);
    const std::string& text = with.key.texts.front();
    CHECK(has(text, "id " + first + "\nid " + with.fixture.user.last_id() + "\ndecision allow\nscope session\n"));
    CHECK(has(text, "rule " + sha256(to_json(grant)) + "\n"));
    with.key.touch();
    CHECK(responding->take());
    CHECK(call->allowed());
    CHECK(other->allowed());
}

TEST_CASE("only a grant that was confirmed outranks an ask rule with confirm") {
    WithKey with;
    with.fixture.add(ask_with_touch("forward"));
    const RuleSpec any = rule(Effect::allow, ActionKind::tool, "gmail");
    SUBCASE("a stored rule, one of the session, and approvals allow do not") {
        with.fixture.add(any, Scope::always);
        with.fixture.add(any, Scope::session);
        with.fixture.run_execution("run-1", protocol::ApprovalMode::allow);
        CHECK(with.fixture.ask(send(), "run-1")->waits());
        CHECK(with.fixture.ask(tool("{}", "list", "gmail"), "run-1")->allowed()); // the control
    }
    SUBCASE("an answer about something else does not") {
        const auto list = with.fixture.ask(tool("{}", "list", "gmail"));
        with.fixture.allow(Scope::session, any);
        CHECK(list->allowed());
        CHECK(with.fixture.ask(send())->waits());
    }
    SUBCASE("a confirmed answer does, for its session") {
        const auto call = with.fixture.ask(send());
        const auto responding = with.begin(Verdict::allow, Scope::session, any);
        with.key.touch();
        CHECK(responding->take());
        CHECK(call->allowed());
        CHECK(with.fixture.ask(send("bob"))->allowed());
        CHECK(with.fixture.ask(tool("{}", "forward", "gmail"))->allowed());
        with.fixture.add(rule(Effect::deny, ActionKind::tool, "gmail", "forward"));
        CHECK(with.fixture.ask(tool("{}", "forward", "gmail"))->denied());
        CHECK(with.fixture.ask(send(), "", "other session")->allowed() == false);
    }
}

TEST_CASE("of several ask rules one with confirm is enough") {
    WithKey with;
    with.fixture.add(rule(Effect::ask, ActionKind::tool, "gmail"), Scope::always);
    const auto call = with.fixture.ask(send());
    CHECK(with.fixture.user.requested.back().confirm);
    CHECK(call->waits());
}

TEST_CASE("a rule with confirm that comes while a question waits holds for its answer") {
    WithKey with;
    const auto call = with.fixture.ask(tool("{}", "list", "gmail"));
    with.fixture.add(ask_with_touch("list"));
    const auto responding = with.begin(Verdict::allow);
    REQUIRE(with.key.texts.size() == 1);
    CHECK(call->waits());
    with.key.touch();
    CHECK(responding->take());
    CHECK(call->allowed());
}

TEST_CASE("an edit that an ask rule with confirm covers has to be confirmed, by the hash of what runs") {
    WithKey with;
    with.fixture.add(gate_fixture::with(ask_with_touch("list"), "/label", equals(R"("secret")")));
    gate::Request request;
    const gate::ToolCall list = tool(R"({"label":"news"})", "list", "gmail");
    request.action = list;
    request.session_id = "s";
    request.edit = [list](const RawJson& arguments) {
        gate::ToolCall edited = list;
        edited.arguments = arguments;
        return edited;
    };
    const auto call = with.fixture.ask(std::move(request));
    CHECK(!with.fixture.user.requested.back().confirm);
    protocol::ApprovalRespondParams params;
    params.approval_ids = {with.fixture.user.last_id()};
    params.decision = Verdict::allow;
    params.arguments_text = R"({"label":"secret"})";
    const auto responding = with.fixture.start(then_true(with.fixture.gate->respond(params)));
    REQUIRE(with.key.texts.size() == 1);
    CHECK(has(with.key.texts.front(),
              "payload " + gate::payload_hash(tool(R"({"label":"secret"})", "list", "gmail")) + "\n"));
    CHECK(call->waits());
    with.key.touch();
    CHECK(responding->take());
    CHECK(call->allowed());
}

TEST_CASE("an answer whose request is cancelled gives the key up, and the question stays") {
    WithKey with;
    const auto call = with.fixture.ask(send());
    protocol::ApprovalRespondParams params;
    params.approval_ids = {with.fixture.user.last_id()};
    params.decision = Verdict::allow;
    const auto result = std::make_shared<Result<bool>>();
    const auto running =
        with.fixture.calls.spawn(keep_result(then_true(with.fixture.gate->respond(std::move(params))), result));
    running->cancel();
    CHECK(WithKey::error_of(result) == ErrorCode::request_cancelled);
    CHECK(with.key.given_up == 1);
    CHECK(call->waits());
    with.fixture.deny();
    CHECK(call->denied());
}

TEST_CASE("the user of an agent's own program is not asked about what has to be confirmed") {
    AgreeingProgram program;
    Key key;
    Fixture fixture;
    fixture.elicitor = &program;
    fixture.confirmer = &key;
    fixture.restart();
    fixture.add(ask_with_touch());
    fixture.gate->detach(fixture.user, Duration(0));
    const auto ask = [&](Action action) {
        gate::Request request;
        request.action = std::move(action);
        request.session_id = "s";
        request.agent = gate::Agent{7, "claude"};
        return fixture.ask(std::move(request));
    };
    const auto call = ask(send());
    REQUIRE(call->denied());
    CHECK(call->decision->by == ResolvedBy::no_client);
    CHECK(program.asked == 0);
    CHECK(ask(tool("{}", "list", "gmail"))->allowed()); // the control
}
