#include "rule_check.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::tools;

namespace {

ToolPtr make(const std::string& name, const std::string& schema) {
    protocol::ToolSpec spec;
    spec.name = name;
    spec.input_schema = RawJson::parse(schema);
    return make_tool(std::move(spec), "server");
}

protocol::RuleSpec rule_with(const std::string& pointer, protocol::Matcher matcher) {
    protocol::RuleSpec rule;
    rule.effect = protocol::Effect::deny;
    rule.server = "s";
    rule.tool = "t";
    rule.arguments = std::map<std::string, protocol::Matcher>{{pointer, std::move(matcher)}};
    return rule;
}

protocol::Matcher equals(const std::string& json) {
    protocol::Matcher matcher;
    matcher.equals = RawJson::parse(json);
    return matcher;
}

protocol::Matcher glob(const std::string& text) {
    protocol::Matcher matcher;
    matcher.glob = text;
    return matcher;
}

std::string check(const std::string& schema, const std::string& pointer, protocol::Matcher matcher) {
    const std::optional<RuleProblem> problem =
        check_rule(rule_with(pointer, std::move(matcher)), "s", {make("t", schema)});
    return problem ? problem->what + " | " + problem->hint : "passes";
}

} // namespace

TEST_CASE("a condition on an argument that the tool does not have is a problem that names the nearest") {
    const std::string schema =
        R"({"type":"object","properties":{"path":{"type":"string"},"count":{"type":"integer"}}})";
    CHECK(check(schema, "/pth", glob("*")) == "expected an argument that there is, found arguments.pth (the tool "
                                              "\"t\") | Did you mean path? There are: path, count.");
    CHECK(check(schema, "/path", glob("*")) == "passes"); // the control
    const std::string none = R"({"type":"object","properties":{},"additionalProperties":false})";
    CHECK(check(none, "/a", glob("*")).starts_with("expected an argument that there is"));
    const std::string nested = R"({"properties":{"a/b":{"properties":{"path":{}}}}})";
    CHECK(check(nested, "/a~1b/pth", glob("*"))
              .starts_with("expected an argument that there is, found "
                           "arguments.a/b.pth"));
    CHECK(check(nested, "/a~1b/path", glob("*")) == "passes");
}

TEST_CASE("what a schema leaves open is no problem") {
    for (const char* schema : {R"({})", R"({"type":"object"})", R"({"properties":{}})",
                               R"({"properties":{"a":{}},"additionalProperties":true})",
                               R"({"properties":{"a":{}},"additionalProperties":{"type":"string"}})",
                               R"({"properties":{"a":{}},"patternProperties":{"^p":{}}})",
                               R"({"properties":{"a":{}},"allOf":[{"properties":{"pth":{}}}]})",
                               R"({"$ref":"#/$defs/a","$defs":{"a":{"properties":{"pth":{}}}}})", "true"}) {
        CAPTURE(schema);
        CHECK(check(schema, "/pth", glob("*")) == "passes");
    }
    // An element of an array, which `properties` say nothing of.
    CHECK(check(R"({"properties":{"list":{"type":"array"}}})", "/list/0", glob("*")) == "passes");
}

TEST_CASE("a value that the argument never has is a problem") {
    const std::string schema = R"({"properties":{"path":{"type":"string"},"count":{"type":["integer","null"]},
"kind":{"enum":["a","b"]},"any":{},"tree":{"properties":{"child":{"$ref":"#"}}}}})";
    CHECK(check(schema, "/path", equals("5")).starts_with("arguments.path: expected a string, found 5"));
    CHECK(check(schema, "/path", equals("\"5\"")) == "passes");
    CHECK(check(schema, "/count", equals("\"5\"")).starts_with("arguments.count: expected an integer or null"));
    CHECK(check(schema, "/count", equals("null")) == "passes");
    CHECK(check(schema, "/count", glob("*")).starts_with("arguments.count: no text can be there"));
    CHECK(check(schema, "/kind", equals("\"c\"")).starts_with("arguments.kind: expected one of \"a\", \"b\""));
    CHECK(check(schema, "/any", equals("[1]")) == "passes");
    // A reference is to the tool's schema, not to the argument's.
    CHECK(check(schema, "/tree", equals(R"({"child":{"path":5}})")).starts_with("arguments.tree.child.path: expected"));
    CHECK(check(schema, "/tree", equals(R"({"child":{"path":"5"}})")) == "passes");
    CHECK(check(schema, "", equals(R"({"path":5})")).starts_with("arguments.path: expected a string"));
    CHECK(check(schema, "", equals(R"({"path":"5"})")) == "passes");
}

TEST_CASE("a rule is checked with the tools that it can be about, and fits if it fits one of them") {
    const std::vector<ToolPtr> tools{make("t", R"({"properties":{"path":{}}})"),
                                     make("u", R"({"properties":{"file":{}}})")};
    protocol::RuleSpec rule = rule_with("/file", glob("*"));
    CHECK(check_rule(rule, "s", tools));
    CHECK_FALSE(check_rule(rule, "other", tools));
    rule.tool = "u";
    CHECK_FALSE(check_rule(rule, "s", tools));
    rule.tool = "none";
    CHECK_FALSE(check_rule(rule, "s", tools)); // it may come
    rule.tool = std::nullopt;
    CHECK_FALSE(check_rule(rule, "s", tools));
    rule.arguments = std::map<std::string, protocol::Matcher>{{"/fil", glob("*")}};
    CHECK(check_rule(rule, "s", tools));
    // Without a server, it is about `host` if its kind is, and else about all servers.
    rule.server = std::nullopt;
    CHECK_FALSE(check_rule(rule, "host", tools));
    rule.kind = protocol::ActionKind::host;
    CHECK(check_rule(rule, "host", tools));
    CHECK_FALSE(check_rule(rule, "s", tools));
    rule.arguments = std::nullopt;
    CHECK_FALSE(check_rule(rule, "host", tools));
    // get_sum is what the wrapper of get-sum is called.
    rule.server = "s";
    rule.tool = "get_sum";
    CHECK_FALSE(check_rule(rule, "s", {})); // not known yet
    const std::optional<RuleProblem> misspelt = check_rule(rule, "s", {make("get-sum", "{}"), make("t", "{}")});
    REQUIRE(misspelt);
    CHECK(misspelt->what == "expected a tool of s, found \"get_sum\"");
    CHECK(misspelt->hint == "Did you mean get-sum? There are: get-sum, t.");
    CHECK_FALSE(check_rule(rule, "s", {make("get-sum", "{}"), make("get_sum", "{}")})); // the control
    // The tools of `host` are always the same.
    rule.server = "host";
    rule.tool = "u";
    CHECK_FALSE(check_rule(rule, "host", tools));
    rule.tool = "none";
    CHECK(check_rule(rule, "host", tools));
}
