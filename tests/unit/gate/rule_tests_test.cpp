// The tests that rules carry.

#include "gate_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gate_fixture;

namespace {

std::vector<RawJson> lines_of(const std::vector<std::string>& arguments) {
    std::vector<RawJson> list;
    std::transform(arguments.begin(), arguments.end(), std::back_inserter(list),
                   [](const std::string& each) { return RawJson::parse(each); });
    return list;
}

RuleSpec tested(Effect effect, const std::vector<std::string>& match, const std::vector<std::string>& no_match) {
    RuleSpec spec = with(rule(effect, ActionKind::tool, "files", "read_file"), "/path", under("data"));
    spec.tests.emplace();
    if (!match.empty()) {
        spec.tests->match = lines_of(match);
    }
    if (!no_match.empty()) {
        spec.tests->no_match = lines_of(no_match);
    }
    return spec;
}

const std::vector<std::string> inside = {R"({"path":"data/a.txt"})"};
const std::vector<std::string> outside = {R"({"path":"/etc/passwd"})", R"({"path":"data/../x"})", "{}"};

std::string refusal(Fixture& fixture, const RuleSpec& spec) {
    try {
        fixture.add(spec);
    } catch (const Error& error) {
        return error.code == ErrorCode::rule_invalid ? error.message : "another error";
    }
    return "added";
}

bool is_shown(const Fixture& fixture, const std::string& text) {
    const std::vector<std::string>& display = fixture.user.requested.back().display;
    std::string all;
    for (const std::string& line : display) {
        CHECK(line.size() <= 80);
        all += line.starts_with("↳ ") ? line.substr(std::string("↳ ").size()) : line;
    }
    return all.find(text) != std::string::npos;
}

// A workspace with `data`, and another place for it.
struct Workspace : Fixture {
    Workspace() { std::filesystem::create_directories(root / "data"); }

    // Where the tests' outside is, too: a link to the whole disk.
    void replace_data() const {
        std::filesystem::remove_all(root / "data");
        std::filesystem::create_directory_symlink("/", root / "data");
    }
};

} // namespace

TEST_CASE("a rule is added only when its tests come out as they say") {
    for (const Effect effect : {Effect::allow, Effect::ask, Effect::deny}) {
        Workspace fixture;
        CHECK(refusal(fixture, tested(effect, inside, outside)) == "added");
        CHECK(refusal(fixture, tested(effect, outside, {})) ==
              R"(its test match[0], {"path":"/etc/passwd"}, is not matched: /path under data does not hold for it)");
        CHECK(refusal(fixture, tested(effect, inside, inside)) ==
              R"(its test noMatch[0], {"path":"data/a.txt"}, is matched)");
        // Readers disagree about ~: an allow rule does not match it, and a narrower rule does.
        const std::string unclear = refusal(fixture, tested(effect, {}, {R"({"path":"~/x"})"}));
        CHECK((unclear == "added") == (effect == Effect::allow));
    }
}

TEST_CASE("tests that cannot be are refused") {
    Workspace fixture;
    CHECK(refusal(fixture, tested(Effect::allow, {}, {})).starts_with("expected tests in match or noMatch"));
    CHECK(refusal(fixture, tested(Effect::allow, {"[1]"}, {})).starts_with("expected objects of arguments in match"));
    CHECK(
        refusal(fixture, tested(Effect::allow, std::vector<std::string>(101, "{}"), {})).starts_with("expected 1 to"));
    RuleSpec network = rule(Effect::deny, ActionKind::network);
    network.tests = tested(Effect::deny, {"{}"}, {}).tests;
    CHECK(refusal(fixture, network).starts_with("expected tests only in a rule about tools"));
}

TEST_CASE("a stored allow rule whose test comes out otherwise does not hold, and that is shown") {
    Workspace fixture;
    const Action call = tool(R"({"path":"data/a.txt"})");
    fixture.add(tested(Effect::allow, inside, outside), Scope::workspace);
    CHECK(fixture.ask(call)->allowed()); // control
    fixture.replace_data();
    CHECK(fixture.ask(call)->waits());
    CHECK(is_shown(fixture, R"(does not hold: its test noMatch[0], {"path":"/etc/passwd"}, is matched)"));
    const protocol::PolicyExplainResult said = fixture.explain(call);
    CHECK(said.effect == Effect::ask);
    CHECK(said.reason.find("noMatch[0]") != std::string::npos);
    fixture.restart(); // the tests are stored with the rule
    const auto again = fixture.ask(call);
    CHECK(again->waits());
    fixture.gate->detach(fixture.user, Duration::zero());
    CHECK(again->denied());
    const auto alone = fixture.ask(call);
    REQUIRE(alone->denied());
    CHECK(alone->decision->reason.find("noMatch[0]") != std::string::npos);
    std::filesystem::remove(fixture.root / "data");
    std::filesystem::create_directory(fixture.root / "data");
    CHECK(fixture.ask(call)->allowed());
}

TEST_CASE("a stored rule that asks or denies holds all the same, and says which test came out otherwise") {
    for (const Effect effect : {Effect::ask, Effect::deny}) {
        Workspace fixture;
        const Action call = tool(R"({"path":"data/a.txt"})");
        fixture.add(rule(Effect::allow, ActionKind::tool), Scope::always);
        CHECK(fixture.ask(call)->allowed()); // control
        fixture.add(tested(effect, inside, outside), Scope::workspace);
        fixture.replace_data();
        const auto asked = fixture.ask(call);
        CHECK(asked->denied() == (effect == Effect::deny));
        CHECK(asked->waits() == (effect == Effect::ask));
        const protocol::PolicyExplainResult said = fixture.explain(call);
        CHECK(said.effect == effect);
        CHECK(said.reason.find("may not be as it was meant: its test noMatch[0]") != std::string::npos);
        CHECK(fixture.ask(tool(R"({"path":"data/a.txt"})", "write_file"))->allowed());
    }
}

TEST_CASE("an answer's rule with a test that comes out otherwise answers nothing") {
    Workspace fixture;
    const auto call = fixture.ask(tool(R"({"path":"data/a.txt"})"));
    CHECK(error_of([&] { fixture.allow(Scope::session, tested(Effect::allow, outside, {})); }) ==
          ErrorCode::rule_invalid);
    CHECK(call->waits());
    fixture.allow(Scope::session, tested(Effect::allow, inside, outside));
    CHECK(call->allowed());
}
