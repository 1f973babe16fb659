#include "base/error.hpp"
#include "rule_argument.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::cli;

TEST_CASE("a rule names a server and a tool") {
    const protocol::RuleSpec rule = parse_allow_rule("notes/add");
    CHECK(rule.effect == protocol::Effect::allow);
    CHECK(rule.kind == protocol::ActionKind::tool);
    CHECK(rule.server == "notes");
    CHECK(rule.tool == "add");
    CHECK_FALSE(rule.arguments);
}

TEST_CASE("a rule may cover all tools of one server, and the built-in one has a kind of its own") {
    const protocol::RuleSpec rule = parse_allow_rule("host/*");
    CHECK(rule.kind == protocol::ActionKind::host);
    CHECK(rule.server == "host");
    CHECK_FALSE(rule.tool);
}

TEST_CASE("conditions become matchers of JSON pointers") {
    const protocol::RuleSpec rule =
        parse_allow_rule("fs/read  path=under:data title=glob:draft-* limit=10 a/b~c=x=y /deep/er=\"10\" flag=true");
    REQUIRE(rule.arguments);
    const auto& arguments = *rule.arguments;
    REQUIRE(arguments.size() == 6);
    CHECK(arguments.at("/path").under == "data");
    CHECK(arguments.at("/title").glob == "draft-*");
    CHECK(arguments.at("/limit").equals->text() == "10");
    CHECK(arguments.at("/a~1b~0c").equals->text() == "\"x=y\"");
    CHECK(arguments.at("/deep/er").equals->text() == "\"10\"");
    CHECK(arguments.at("/flag").equals->text() == "true");
}

TEST_CASE("a rule for everything, and one that is not clear, is refused") {
    for (const char* text : {"", "*", "*/*", "*/read", "fs*/read", "fs/", "/read", "fs", "fs/read*", "fs/**",
                             "f s/read", "fs/read path", "fs/read =x", " fs/read", "fs /read"}) {
        CAPTURE(text);
        std::string found = "accepted";
        try {
            parse_allow_rule(text);
        } catch (const Error& error) {
            found = kind_of(error.code);
        }
        CHECK(found == "ruleInvalid");
    }
}
