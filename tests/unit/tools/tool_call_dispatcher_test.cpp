#include "result_check.hpp"
#include "tools_fixture.hpp"

using namespace tools_fixture;

namespace {

std::size_t calls_in(const fs::path& log) {
    std::size_t count = 0;
    std::ifstream file(log);
    for (std::string line; std::getline(file, line);) {
        count += has(line, "\"tools/call\"") ? 1 : 0;
    }
    return count;
}

Task<void> nothing_passes_unseen(Fixture* fixture) {
    const fs::path log = fixture->folder.path / "log";
    fixture->add(fixture->fixture("s", {"--log", log.string()}));
    fixture->user->answer = [fixture](const protocol::Approval& approval) { fixture->user->deny(approval); };
    const auto denied = co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    CHECK(denied->code() == ErrorCode::denied);
    CHECK(denied->error->message == "not today");
    CHECK(calls_in(log) == 0);
    REQUIRE(fixture->user->requested.size() == 1);
    const protocol::Approval& approval = fixture->user->requested[0];
    CHECK(approval.action.kind == protocol::ActionKind::tool);
    CHECK(approval.action.arguments_text->text() == R"({"s":"x"})");
    CHECK(approval.action.server_identity == fixture->registry->info("s").identity);
    CHECK(approval.action.tool_identity);
    CHECK(has(approval.hints.description.value(), "Echoes its text."));
    CHECK(approval.hints.read_only_hint == true);

    fixture->gate->detach(*fixture->user, Duration(0));
    const auto nobody = co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    CHECK(nobody->code() == ErrorCode::denied);
    CHECK(has(nobody->text(), "no user is connected"));
    CHECK(calls_in(log) == 0);
}

Task<void> wrong_arguments_ask_nobody(Fixture* fixture) {
    fixture->add(fixture->fixture("s"));
    const auto wrong = co_await fixture->call("s", "tool-1", R"({"s":5})");
    CHECK(wrong->code() == ErrorCode::arguments_invalid);
    CHECK(wrong->error->message == "arguments.s: expected a string, found 5");
    const auto no_object = co_await fixture->call("s", "tool-1", "[1]");
    CHECK(no_object->code() == ErrorCode::arguments_invalid);
    const auto large = co_await fixture->call("s", "raw", "{\"s\":\"" + std::string(9 << 20, 'x') + "\"}");
    CHECK(large->code() == ErrorCode::limit_exceeded);
    CHECK(fixture->user->requested.empty());
}

Task<void> defaults_are_filled_in(Fixture* fixture) {
    fixture->add(fixture->fixture("s"));
    const auto filled = co_await fixture->call("s", "measure", R"({ "wrong": false })");
    CHECK(has(filled->result->structured_content->text(), R"("unit": "cm")"));
    const auto empty = co_await fixture->call("s", "measure", "{}");
    CHECK(empty->result);
    const auto given = co_await fixture->call("s", "measure", R"({"unit":"m"})");
    CHECK(has(given->result->structured_content->text(), R"("unit": "m")"));
    REQUIRE(fixture->user->requested.size() == 3);
    CHECK(fixture->user->requested[0].action.arguments_text->text() == R"({ "wrong": false ,"unit":"cm"})");
    CHECK(fixture->user->requested[1].action.arguments_text->text() == R"({"unit":"cm"})");
    CHECK(fixture->user->requested[2].action.arguments_text->text() == R"({"unit":"m"})");
    const auto without_default = co_await fixture->call("s", "tool-1", "{}");
    CHECK(without_default->error->message == "arguments.s: is required and was not given");
}

Task<void> wrong_structures_are_failures(Fixture* fixture) {
    fixture->add(fixture->fixture("s"));
    const auto right = co_await fixture->call("s", "measure", R"({"unit":"cm"})");
    CHECK_FALSE(right->result->is_error.value_or(false));
    CHECK(has(right->result->content.text(), "image/png"));
    const auto wrong = co_await fixture->call("s", "measure", R"({"unit":"cm","wrong":true})");
    REQUIRE(wrong->result);
    CHECK(wrong->result->is_error == true);
    CHECK_FALSE(wrong->result->structured_content);
    CHECK_MESSAGE(has(wrong->text(), "result.length: expected a number, found \"long\""), wrong->text());
    CHECK(has(wrong->text(), R"("unit": "cm")"));
    CHECK(has(wrong->result->content.text(), "measured"));
}

protocol::RuleSpec deny_rule(const std::string& pointer) {
    protocol::Matcher matcher;
    matcher.equals = RawJson::parse("\"secret\"");
    protocol::RuleSpec rule;
    rule.effect = protocol::Effect::deny;
    rule.kind = protocol::ActionKind::tool;
    rule.server = "s";
    rule.tool = "tool-1";
    rule.arguments = std::map<std::string, protocol::Matcher>{{pointer, matcher}};
    return rule;
}

Task<void> mistyped_deny_rule_denies(Fixture* fixture) {
    fixture->add(fixture->fixture("s"));
    fixture->registry->require_fitting(deny_rule("/text")); // its tools are not known yet
    const std::string id = fixture->gate->configure(deny_rule("/text"), protocol::RuleSource::user).id;
    for (int i = 0; i < 2; ++i) {
        const auto denied = co_await fixture->call("s", "tool-1", R"({"s":"x"})");
        CHECK(denied->code() == ErrorCode::denied);
        CHECK(has(denied->text(), id));
        CHECK(has(denied->text(), "found arguments.text"));
        CHECK(has(denied->error->hint, "There is: s."));
    }
    const auto other = co_await fixture->call("s", "tool_2", R"({"s":"x"})");
    CHECK(other->result);
    CHECK(fixture->user->requested.size() == 1);
    std::string refused;
    try {
        fixture->registry->require_fitting(deny_rule("/text"));
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::rule_invalid);
        refused = error.message;
    }
    CHECK(has(refused, "found arguments.text"));
    // The control: one that fits denies what it matches, and nothing else.
    fixture->gate->withdraw(id);
    fixture->registry->require_fitting(deny_rule("/s"));
    fixture->gate->configure(deny_rule("/s"), protocol::RuleSource::user);
    const auto secret = co_await fixture->call("s", "tool-1", R"({"s":"secret"})");
    CHECK(secret->code() == ErrorCode::denied);
    const auto allowed = co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    CHECK(allowed->text() == "You passed to tool 1: x");
}

Task<void> deny_rule_with_the_name_of_the_wrapper_denies(Fixture* fixture) {
    fixture->add(fixture->fixture("s"));
    protocol::RuleSpec rule = deny_rule("/s");
    rule.tool = "tool_1";
    rule.arguments = std::nullopt;
    fixture->registry->require_fitting(rule); // its tools are not known yet
    const std::string id = fixture->gate->configure(rule, protocol::RuleSource::user).id;
    const auto denied = co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    CHECK(denied->code() == ErrorCode::denied);
    CHECK_MESSAGE(has(denied->text(), "expected a tool of s, found \"tool_1\""), denied->text());
    CHECK(has(denied->error->hint, "Did you mean tool-1?"));
    CHECK_THROWS_AS(fixture->registry->require_fitting(rule), Error);
    // The controls: another tool, and the rule's end.
    const auto other = co_await fixture->call("s", "tool_2", R"({"s":"x"})");
    CHECK(other->result);
    fixture->gate->withdraw(id);
    const auto allowed = co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    CHECK_MESSAGE(allowed->result, allowed->text());
}

Task<void> stored_rules_are_checked_again(Fixture* fixture) {
    fixture->add(fixture->fixture("s"));
    const auto first = co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    CHECK(first->result);
    const fs::path file = fixture->folder.path / "policy" / "user.json";
    const auto store = [&file](const std::string& pointer) {
        write_text(file, R"({"version":1,"about":"mine","rules":[{"id":"mine","effect":"deny","kind":"tool",)"
                         R"("server":"s","tool":"tool-1","source":"userStore","arguments":{")" +
                             pointer + R"(":{"equals":"secret"}}}]})");
        fs::permissions(file.parent_path(), fs::perms::owner_all);
        fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    };
    store("/text");
    const auto denied = co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    CHECK_MESSAGE(has(denied->text(), "the deny rule \"mine\" can match no call"), denied->text());
    store("/s");
    const auto again = co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    CHECK_MESSAGE(again->result, again->text());
    const auto secret = co_await fixture->call("s", "tool-1", R"({"s":"secret"})");
    CHECK(secret->code() == ErrorCode::denied);
}

Task<void> edited_arguments_are_called(Fixture* fixture) {
    fixture->add(fixture->fixture("s"));
    const std::string edited = R"({"s" : "edited", "n":1e2})";
    fixture->user->answer = [&](const protocol::Approval& approval) {
        if (approval.action.tool == "tool-1") {
            fixture->user->respond(approval, protocol::Verdict::allow, RawJson::parse(R"({"s":1})"));
        }
        fixture->user->respond(approval, protocol::Verdict::allow, RawJson::parse(edited));
    };
    const auto call = co_await fixture->call("s", "raw", R"({"s":"x"})");
    CHECK(has(call->text(), "\"arguments\":" + edited));
    const auto checked = co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    CHECK(checked->text() == "You passed to tool 1: edited");
    REQUIRE(fixture->user->refused.size() == 1);
    CHECK(has(fixture->user->refused[0], "arguments.s: expected a string"));
}

Task<void> changed_tool_is_decided_again(Fixture* fixture) {
    const fs::path log = fixture->folder.path / "log";
    fixture->allow_tool("change");
    fixture->add(fixture->fixture("s", {"--log", log.string()}));
    fixture->user->answer = nullptr;
    const auto call = fixture->start_call("s", "tool-1", R"({"s":"x"})");
    co_await fixture->user->asked.wait();
    const auto change = co_await fixture->call("s", "change", "{}");
    CHECK(change->text() == "changed");
    fixture->user->allow(fixture->user->requested[0]);
    CHECK(co_await fixture->until([&fixture] { return fixture->user->requested.size() == 2; }));
    CHECK(calls_in(log) == 1); // that of `change`
    CHECK(has(fixture->user->requested[1].hints.description.value(), "Changed 1 times."));
    CHECK(fixture->user->requested[1].action.tool_identity != fixture->user->requested[0].action.tool_identity);
    fixture->user->allow(fixture->user->requested[1]);
    co_await call->done.wait();
    CHECK(call->text() == "You passed to tool 1: x");
    const auto past = fixture->gate->policy_decisions().decisions;
    CHECK(past.at(0).outcome.value().status == protocol::OutcomeStatus::succeeded);
    CHECK(past.at(1).outcome.value().error == "the tool server changed the tool before it was called");
}

Task<void> restless_server_is_given_up(Fixture* fixture) {
    fixture->allow_tool("tool_2");
    fixture->add(fixture->fixture("s", {"--change-always"}));
    // Each decision takes so long that the tools have changed when it is made.
    fixture->user->answer = nullptr;
    const auto call = fixture->start_call("s", "tool-1", R"({"s":"x"})");
    for (std::size_t asked = 1; asked <= 4; ++asked) {
        CHECK(co_await fixture->until([&fixture, &asked] { return fixture->user->requested.size() == asked; }));
        co_await fixture->call("s", "tool_2", R"({"s":"y"})");
        fixture->user->allow(fixture->user->requested.back());
    }
    co_await call->done.wait();
    CHECK(has(call->text(), "changed its tools again and again"));
}

Task<void> cancel_waiting_and_running(Fixture* fixture) {
    const fs::path log = fixture->folder.path / "log";
    fixture->allow_tool("hang");
    fixture->add(fixture->fixture("s", {"--log", log.string()}));
    fixture->user->answer = nullptr;
    const auto waiting = fixture->start_call("s", "tool-1", R"({"s":"x"})");
    co_await fixture->user->asked.wait();
    waiting->cancel->cancel();
    co_await waiting->done.wait();
    CHECK(waiting->code() == ErrorCode::request_cancelled);
    REQUIRE(fixture->user->resolved.size() == 1);
    CHECK(fixture->user->resolved[0].by == protocol::ResolvedBy::cancelled);
    CHECK(calls_in(log) == 0);

    const auto running = fixture->start_call("s", "hang", "{}");
    CHECK(co_await fixture->until([&log] { return calls_in(log) == 1; }));
    running->cancel->cancel();
    co_await running->done.wait();
    CHECK(running->code() == ErrorCode::request_cancelled);
    CHECK(co_await fixture->until([&log] { return has(read_text(log), "notifications/cancelled"); }));
}

Task<void> answer_what_the_server_asks(Fixture* fixture, std::string method, std::string answer) {
    fixture->add(fixture->fixture("s", {"--ask", method}));
    const auto call = co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    CHECK_MESSAGE(has(call->text(), answer), call->text());
}

Task<void> end_rounds_without_end(Fixture* fixture) {
    fixture->add(fixture->fixture("s", {"--era", "modern", "--input-required", "--garbage"}));
    const auto call = co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    CHECK_MESSAGE(has(call->text(), "asked for more input 16 times"), call->text());
    CHECK(call->code() == ErrorCode::tool_server_failed);
}

// Of the calls of a server, newest first: "succeeded", "failed: REASON", "cancelled", "goes on".
std::vector<std::string> outcomes(const Fixture& fixture) {
    std::vector<std::string> all;
    for (const protocol::PastDecision& past : fixture.gate->policy_decisions().decisions) {
        if (!past.display.front().starts_with("tool ")) {
            continue;
        }
        const std::optional<protocol::Outcome>& outcome = past.outcome;
        if (!outcome) {
            all.emplace_back(past.decision == protocol::Verdict::deny ? "denied" : "goes on");
        } else if (outcome->status == protocol::OutcomeStatus::failed) {
            all.push_back("failed: " + outcome->error.value());
        } else {
            all.emplace_back(outcome->status == protocol::OutcomeStatus::succeeded ? "succeeded" : "cancelled");
        }
    }
    return all;
}

Task<void> outcomes_are_reported(Fixture* fixture) {
    const fs::path log = fixture->folder.path / "log";
    fixture->add(fixture->fixture("s", {"--log", log.string()}));
    co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    co_await fixture->call("s", "fail", "{}");
    const auto hangs = fixture->start_call("s", "hang", "{}");
    CHECK(co_await fixture->until([&log] { return calls_in(log) == 3; }));
    const std::vector<std::string> meanwhile = outcomes(*fixture);
    CHECK(meanwhile == std::vector<std::string>{"goes on", "failed: it failed", "succeeded"});
    hangs->cancel->cancel();
    co_await hangs->done.wait();
    const auto dead = co_await fixture->call("s", "die", "{}");
    CHECK(dead->error);
    fixture->user->answer = [fixture](const protocol::Approval& approval) { fixture->user->deny(approval); };
    co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    const std::vector<std::string> all = outcomes(*fixture);
    REQUIRE(all.size() == 5);
    CHECK(all[0] == "denied");
    CHECK_MESSAGE(all[1].starts_with("failed: the tool server \"s\" ended during the call: exit code 3"), all[1]);
    CHECK(all[2] == "cancelled");
}

} // namespace

TEST_CASE("what became of each call is reported to the gate") {
    Fixture fixture;
    fixture.run(outcomes_are_reported(&fixture));
}

TEST_CASE("no call reaches a tool server without a yes") {
    Fixture fixture;
    fixture.run(nothing_passes_unseen(&fixture));
}

TEST_CASE("arguments that certainly do not fit are refused without a question") {
    Fixture fixture;
    fixture.run(wrong_arguments_ask_nobody(&fixture));
}

TEST_CASE("the default of a required argument is put in before the user is asked") {
    Fixture fixture;
    fixture.run(defaults_are_filled_in(&fixture));
}

TEST_CASE("a structure that the output schema forbids is a failure that shows it, with the other blocks") {
    Fixture fixture;
    fixture.run(wrong_structures_are_failures(&fixture));
}

TEST_CASE("a fetch of Node that fails in the sandbox says why, and no other failure") {
    protocol::CallToolResult result;
    result.content = RawJson::parse(R"([{"type":"text","text":"TypeError: fetch failed"} ])");
    CHECK(tools::with_proxy_note(result).content == result.content);
    result.is_error = true;
    const Json blocks = tools::with_proxy_note(result).content.value();
    REQUIRE(blocks.size() == 2);
    CHECK(has(blocks[1]["text"], "Node before 22.21"));
    result.content = RawJson::parse(R"([{"type":"text","text":"no such file"}])");
    CHECK(tools::with_proxy_note(result).content == result.content);
}

TEST_CASE("a deny rule whose condition no call can meet denies the tool's calls, and says why") {
    Fixture fixture;
    fixture.run(mistyped_deny_rule_denies(&fixture));
}

TEST_CASE("a deny rule with the name of a tool's wrapper denies the tool's calls, and names the tool") {
    Fixture fixture;
    fixture.run(deny_rule_with_the_name_of_the_wrapper_denies(&fixture));
}

TEST_CASE("a stored rule that was changed by hand is checked by the next call") {
    Fixture fixture;
    fixture.run(stored_rules_are_checked_again(&fixture));
}

TEST_CASE("what a user edits is what is called, and it has to fit, too") {
    Fixture fixture;
    fixture.run(edited_arguments_are_called(&fixture));
}

TEST_CASE("a tool whose definition changes while it is decided about is decided about again") {
    Fixture fixture;
    fixture.run(changed_tool_is_decided_again(&fixture));
}

TEST_CASE("a server that changes its tools at every turn is given up") {
    Fixture fixture;
    fixture.run(restless_server_is_given_up(&fixture));
}

TEST_CASE("a call that is cancelled withdraws its question, or is cancelled at the server") {
    Fixture fixture;
    fixture.run(cancel_waiting_and_running(&fixture));
}

TEST_CASE("what a server asks in the middle of a call is answered or refused, and the call ends") {
    for (const auto& [method, answer] : {std::pair("roots/list", "/workspace"),
                                         {"sampling/createMessage", "-32601"},
                                         {"elicitation/create", "-32602"}}) {
        Fixture fixture;
        fixture.run(answer_what_the_server_asks(&fixture, method, answer));
    }
    Fixture fixture;
    fixture.run(end_rounds_without_end(&fixture));
}
