#include "gate_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gate_fixture;

namespace {

gate::Output output(const std::string& text, std::vector<std::string> results = {"gmail/list"}) {
    gate::Output made;
    made.output_text = text;
    if (!results.empty()) {
        made.results = std::move(results);
    }
    return made;
}

gate::Request of_agent(Action action, std::uint64_t client = 7, const std::string& session = "s") {
    gate::Request request;
    request.action = std::move(action);
    request.session_id = session;
    request.agent = gate::Agent{client, "claude"};
    return request;
}

bool reviews(Fixture& fixture, const Action& call, const std::string& session = "s") {
    return fixture.now(fixture.gate->reviews(of_agent(call, 7, session)));
}

RuleSpec about_output(Effect effect) {
    return rule(effect, ActionKind::output);
}

std::vector<std::string> labels(const protocol::Approval& approval) {
    std::vector<std::string> all;
    std::transform(approval.choices.begin(), approval.choices.end(), std::back_inserter(all),
                   [](const protocol::Choice& choice) { return choice.label; });
    return all;
}

using Labels = std::vector<std::string>;

} // namespace

TEST_CASE("a review rule decides nothing, and covers what its conditions cover") {
    Fixture fixture;
    CHECK_FALSE(reviews(fixture, tool("{}", "list", "gmail")));
    fixture.add(rule(Effect::review, ActionKind::tool, "gmail"));
    CHECK(reviews(fixture, tool("{}", "list", "gmail")));
    CHECK_FALSE(reviews(fixture, tool("{}", "list", "notes")));
    CHECK_FALSE(reviews(fixture, tool("{}", "list", "gmail"), "another"));
    CHECK(fixture.ask(tool("{}", "list", "gmail"))->waits());

    fixture.add(with(rule(Effect::review, ActionKind::host, "host", "read_file"), "/path", under("private")),
                Scope::workspace);
    CHECK(reviews(fixture, host(R"({"path":"private/a"})", "read_file")));
    CHECK_FALSE(reviews(fixture, host(R"({"path":"public/a"})", "read_file")));
    CHECK(reviews(fixture, host(R"({"path":"private/a"})", "read_file"), "another"));
}

TEST_CASE("a path that does not resolve counts as reviewed") {
    Fixture fixture;
    std::filesystem::create_symlink("loop", fixture.root / "loop");
    fixture.add(with(rule(Effect::review, ActionKind::host, "host", "read_file"), "/path", under("private")));
    CHECK(reviews(fixture, host(R"({"path":"loop/a"})", "read_file")));
}

TEST_CASE("output is asked about where the session has such results, and else allowed") {
    Fixture fixture;
    CHECK(fixture.gate->allows_output(of_agent(output("", {}))));
    CHECK(fixture.ask(of_agent(output("plain", {})))->allowed());
    CHECK(fixture.user.requested.empty());

    CHECK_FALSE(fixture.gate->allows_output(of_agent(output(""))));
    const auto asked = fixture.ask(of_agent(output("From: ada\nSubject: plan\n", {"a/b", "c/d e"})));
    REQUIRE(asked->waits());
    const protocol::Approval& approval = fixture.user.requested.back();
    CHECK(approval.display == Labels{"show an agent this output, which may have results of a/b, \"c/d e\"",
                                     "output: 2 lines", "  | From: ada", "  | Subject: plan", "by agent claude"});
    CHECK(approval.agent == "claude");
    CHECK_FALSE(approval.edit_text);
    CHECK(labels(approval) == Labels{"this output", "any output, this session"});
    fixture.allow();
    CHECK(asked->allowed());
    CHECK(fixture.ask(of_agent(output("From: ada")))->waits()); // once
    fixture.deny();
}

TEST_CASE("an answer for the session covers the agent that asked, there") {
    Fixture fixture;
    const auto asked = fixture.ask(of_agent(output("1")));
    fixture.allow(Scope::session, fixture.user.requested.back().choices.back().rule);
    CHECK(asked->allowed());
    CHECK(fixture.ask(of_agent(output("2")))->allowed());
    CHECK(fixture.gate->allows_output(of_agent(output(""))));
    CHECK_FALSE(fixture.gate->allows_output(of_agent(output(""), 8)));
    CHECK_FALSE(fixture.gate->allows_output(of_agent(output(""), 7, "another")));
}

TEST_CASE("what a cell prints can be allowed until it ends") {
    Fixture fixture;
    fixture.run_execution("run");
    gate::Request request = of_agent(output("1"));
    request.execution_id = "run";
    const auto asked = fixture.ask(request);
    CHECK(labels(fixture.user.requested.back()) ==
          Labels{"this output", "what this cell prints, until the cell ends", "any output, this session"});
    fixture.allow(Scope::execution, fixture.user.requested.back().choices[1].rule);
    CHECK(asked->allowed());
    CHECK(fixture.gate->allows_output(request));
    fixture.gate->end_execution("run");
    CHECK_FALSE(fixture.gate->allows_output(request));
}

TEST_CASE("rules of kind output decide, and those of no kind do not") {
    Fixture fixture;
    fixture.add(rule(Effect::ask, std::nullopt));
    CHECK(fixture.gate->allows_output(of_agent(output("", {}))));
    fixture.add(about_output(Effect::ask), Scope::workspace);
    CHECK_FALSE(fixture.gate->allows_output(of_agent(output("", {}))));
    CHECK(fixture.ask(of_agent(output("1", {})))->waits());
    fixture.add(about_output(Effect::allow));
    CHECK(fixture.gate->allows_output(of_agent(output(""))));
    fixture.add(about_output(Effect::deny));
    CHECK(fixture.ask(of_agent(output("1")))->denied());
    RuleSpec useless = about_output(Effect::deny);
    useless.server = "gmail";
    CHECK(error_of([&] { fixture.add(useless); }) == ErrorCode::rule_invalid);
}

TEST_CASE("a rule with a number of uses allows so many outputs, each at its end") {
    Fixture fixture;
    RuleSpec once = about_output(Effect::allow);
    once.uses = 1;
    fixture.add(once);
    CHECK_FALSE(fixture.gate->allows_output(of_agent(output(""))));
    CHECK(fixture.ask(of_agent(output("1")))->allowed());
    CHECK(fixture.ask(of_agent(output("2")))->waits());
}

TEST_CASE("without an approver output is denied at once, and not shown in the agent's program") {
    AgreeingProgram program;
    Fixture fixture;
    fixture.elicitor = &program;
    fixture.restart();
    fixture.gate->detach(fixture.user, Duration(0));
    const auto refused = fixture.ask(of_agent(output("1")));
    REQUIRE(refused->denied());
    CHECK(refused->decision->by == ResolvedBy::no_client);
    CHECK(program.asked == 0);
    CHECK(fixture.ask(of_agent(tool("{}")))->allowed()); // the control
    CHECK(program.asked == 1);
}
