#include "base/clock.hpp"
#include "tools/execution_rules.hpp"
#include "tools/rule_text.hpp"

#include <doctest/doctest.h>

using namespace cellgate;

namespace {

protocol::PastDecision past(const std::string& execution, const std::string& action,
                            protocol::Verdict decision = protocol::Verdict::allow) {
    protocol::PastDecision made;
    made.execution_id = execution;
    made.decision = decision;
    made.action = from_json<protocol::Action>(RawJson::parse(action), "action");
    return made;
}

} // namespace

TEST_CASE("the rules of an execution are those of what it was allowed, each once, and can be read again") {
    const std::vector<protocol::PastDecision> decisions = {
        past("x1", R"({"kind":"tool","server":"fs","tool":"read file","argumentsText":"{}"})"),
        past("x1", R"({"kind":"tool","server":"fs","tool":"read file","argumentsText":"{\"path\":\"b\"}"})"),
        past("x1", R"({"kind":"tool","server":"fs","tool":"denied","argumentsText":"{}"})", protocol::Verdict::deny),
        past("x2", R"({"kind":"tool","server":"fs","tool":"other","argumentsText":"{}"})"),
        past("x1", R"({"kind":"host","server":"host","tool":"read_file","argumentsText":"{}"})"),
        past("x1", R"({"kind":"host","server":"host","tool":"run_command","argumentsText":"{}"})"),
        past("x1", R"({"kind":"network","host":"example.org","port":443})"),
        past("x1", R"({"kind":"request","host":"api.example.org","method":"GET","path":"/a"})"),
        past("x1", R"({"kind":"install","command":["pip","install","x"]})")};
    const std::vector<std::string> rules = tools::execution_rules(decisions, "x1");
    CHECK(rules == std::vector<std::string>{R"(allow fs/"read file")", "allow host/read_file",
                                            "allow network example.org", "allow request api.example.org GET"});
    for (const std::string& rule : rules) {
        CHECK(tools::parse_rule(rule, WallTime{}).effect == protocol::Effect::allow);
    }
}
