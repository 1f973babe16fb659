#include "base/clock.hpp"
#include "tools/execution_rules.hpp"
#include "tools/rule_text.hpp"

#include <doctest/doctest.h>

using namespace cellgate;

namespace {

protocol::Action action(const char* text) {
    return from_json<protocol::Action>(RawJson::parse(text), "action");
}

} // namespace

TEST_CASE("the rules of an execution are those of what it was allowed, each once, and can be read again") {
    const std::vector<protocol::Action> allowed = {
        action(R"({"kind":"tool","server":"fs","tool":"read file","argumentsText":"{}"})"),
        action(R"({"kind":"tool","server":"fs","tool":"read file","argumentsText":"{\"path\":\"b\"}"})"),
        action(R"({"kind":"host","server":"host","tool":"read_file","argumentsText":"{\"path\":\"/etc/a b\"}"})"),
        action(R"({"kind":"host","server":"host","tool":"run_command","argumentsText":"{}"})"),
        action(R"({"kind":"tool","server":"kernel","tool":"run_program","argumentsText":"{\"argv\":[\"git\"]}"})"),
        action(R"({"kind":"network","host":"example.org","port":443})"),
        action(R"({"kind":"request","host":"api.example.org","method":"GET","path":"/a"})"),
        action(R"({"kind":"install","command":["pip","install","x"]})")};
    const std::vector<std::string> rules = tools::execution_rules(allowed);
    CHECK(rules == std::vector<std::string>{R"(allow fs/"read file")", R"(allow host/read_file path="/etc/a b")",
                                            R"(allow kernel/run_program ={"argv":["git"]})",
                                            "allow network example.org", "allow request api.example.org GET"});
    for (const std::string& rule : rules) {
        CHECK(tools::parse_rule(rule, WallTime{}).effect == protocol::Effect::allow);
    }
}

TEST_CASE("of more files of the host than a user reads through there is no rule") {
    std::vector<protocol::Action> allowed = {
        action(R"({"kind":"tool","server":"fs","tool":"find","argumentsText":"{}"})")};
    for (int i = 0; i < 21; ++i) {
        protocol::Action read = action(R"({"kind":"host","server":"host","tool":"read_file"})");
        read.arguments_text = RawJson::parse(R"({"path":")" + std::to_string(i) + R"("})");
        allowed.push_back(read);
    }
    CHECK(tools::execution_rules(allowed) == std::vector<std::string>{"allow fs/find"});
    allowed.pop_back();
    CHECK(tools::execution_rules(allowed).size() == 21);
}
