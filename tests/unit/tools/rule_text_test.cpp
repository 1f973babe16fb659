#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "tools/rule_text.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::tools;

namespace {

const WallTime now = *parse_rfc3339("2026-01-05T09:00:00Z");

protocol::RuleSpec parse_allow_rule(const std::string& text) {
    return tools::parse_allow_rule(text, now);
}

protocol::RuleSpec parse_rule(const std::string& text) {
    return tools::parse_rule(text, now);
}

} // namespace

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

TEST_CASE("what holds spaces, quotes, commas or braces is written as JSON") {
    const protocol::RuleSpec rule = parse_allow_rule(
        R"("my server"/"a tool" path=under:"my data" title="it's, \"so\"" list=[1, "a b", {"c": "]"}] "odd = name"=1)"
        R"( glob=glob:"a *" object={"a": {"b": "}"}} plain=a,b)");
    CHECK(rule.server == "my server");
    CHECK(rule.tool == "a tool");
    REQUIRE(rule.arguments);
    const auto& arguments = *rule.arguments;
    REQUIRE(arguments.size() == 7);
    CHECK(arguments.at("/path").under == "my data");
    CHECK(arguments.at("/title").equals->text() == R"("it's, \"so\"")");
    CHECK(arguments.at("/list").equals->text() == R"([1, "a b", {"c": "]"}])");
    CHECK(arguments.at("/odd = name").equals->text() == "1");
    CHECK(arguments.at("/glob").glob == "a *");
    CHECK(arguments.at("/object").equals->text() == R"({"a": {"b": "}"}})");
    CHECK(arguments.at("/plain").equals->text() == "\"a,b\"");
}

TEST_CASE("a rule may bind all arguments at once") {
    const protocol::RuleSpec rule = parse_allow_rule(R"(host/write_file ={"path":"a b","content":"x\n"})");
    REQUIRE(rule.arguments);
    CHECK(rule.arguments->at("").equals->text() == R"({"path":"a b","content":"x\n"})");
}

TEST_CASE("quotes make a star a name") {
    CHECK(parse_allow_rule(R"("*"/"*")").server == "*");
    CHECK(parse_allow_rule(R"("*"/"*")").tool == "*");
}

TEST_CASE("the rule for a call reads as that call's server, tool and arguments") {
    const char* texts[] = {
        "",    "plain", "two words", "it's",         "\"",   "a\\b", "10", "true", "under:x",     "glob:*",
        "={}", "a=b",   "/abs/path", "\xe2\x80\xae", "\n\t", "[1",   "{",  "*",    "caf\xc3\xa9", "\xf3\xa0\x81\x81",
        "\x7f"};
    for (const char* text : texts) {
        for (const char* name : texts) {
            CAPTURE(text);
            CAPTURE(name);
            std::string arguments = "{";
            append_json_string(arguments, name);
            arguments += " : ";
            append_json_string(arguments, text);
            arguments += "\n}";
            const RawJson value = RawJson::checked(arguments);
            const std::string server = *name == '\0' ? "s" : name;
            const std::string line = allow_rule_for(server, server, value, false);
            CHECK(escape_unprintable(line) == line);
            const protocol::RuleSpec rule = parse_allow_rule(line);
            CHECK(rule.server == server);
            CHECK(rule.tool == server);
            REQUIRE(rule.arguments);
            REQUIRE(rule.arguments->size() == 1);
            const auto& [pointer, matcher] = *rule.arguments->begin();
            std::string expected = "/";
            for (const char c : std::string(name)) {
                expected += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
            }
            CHECK(pointer == expected);
            REQUIRE(matcher.equals);
            CHECK(decode_json_string(matcher.equals->text()) == text);
            const std::string exact = allow_rule_for(server, server, value, true);
            CHECK(escape_unprintable(exact) == exact);
            const std::string all(parse_allow_rule(exact).arguments->at("").equals->text());
            REQUIRE(json_members(all).size() == 1);
            CHECK(json_members(all).front().first == name);
            CHECK(decode_json_string(json_members(all).front().second) == text);
        }
    }
}

TEST_CASE("the rule for a call keeps what is no text") {
    const RawJson value = RawJson::checked(R"({"n": 1.50, "b": true, "z": null, "l": [ 1, "a b" ], "o": {"x": " "}})");
    const auto arguments = *parse_allow_rule(allow_rule_for("s", "t", value, false)).arguments;
    REQUIRE(arguments.size() == 5);
    CHECK(arguments.at("/n").equals->text() == "1.50");
    CHECK(arguments.at("/b").equals->text() == "true");
    CHECK(arguments.at("/z").equals->text() == "null");
    CHECK(arguments.at("/l").equals->text() == R"([ 1, "a b" ])");
    CHECK(arguments.at("/o").equals->text() == R"({"x": " "})");
    CHECK(allow_rule_for("s", "t", RawJson::checked("{}"), false) == "s/t");
}

TEST_CASE("a rule for everything, and one that is not clear, is refused") {
    for (const char* text : {"",
                             "*",
                             "*/*",
                             "*/read",
                             "fs*/read",
                             "fs/",
                             "/read",
                             "fs",
                             "fs/read*",
                             "fs/**",
                             "f s/read",
                             "fs/read path",
                             "fs/read =x",
                             " fs/read",
                             "fs /read",
                             "fs/read a=1 a=2",
                             "fs/read a=\"x",
                             "fs/read a=\"x\"y",
                             "fs/read a={",
                             "fs/read a=[1]]",
                             "\"fs\"x/read",
                             "fs/\"read\"x",
                             "fs/read =[1]",
                             "fs/read =",
                             "\"fs/read",
                             "fs/read a={\"b\":1,\"b\":2}"}) {
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

TEST_CASE("every kind of rule has a short form") {
    CHECK(to_json(parse_rule("deny filesystem/move_file")) ==
          R"({"effect":"deny","kind":"tool","server":"filesystem","tool":"move_file"})");
    CHECK(to_json(parse_rule("ask  notes/add kind=in:[\"a\",2] count=less:10")) ==
          R"({"effect":"ask","kind":"tool","server":"notes","tool":"add",)"
          R"("arguments":{"/count":{"lessThan":10},"/kind":{"in":["a",2]}}})");
    CHECK(to_json(parse_rule("allow network *.example.org:443")) ==
          R"({"effect":"allow","kind":"network","host":"*.example.org:443"})");
    CHECK(to_json(parse_rule("deny install")) == R"({"effect":"deny","kind":"install"})");
    CHECK(to_json(parse_rule("review gmail/*")) == R"({"effect":"review","kind":"tool","server":"gmail"})");
    CHECK(to_json(parse_rule("review host/read_file path=under:private")) ==
          R"({"effect":"review","kind":"host","server":"host","tool":"read_file",)"
          R"("arguments":{"/path":{"under":"private"}}})");
    CHECK(to_json(parse_rule("ask output")) == R"({"effect":"ask","kind":"output"})");
    CHECK(to_json(parse_rule("allow output --uses 3")) == R"({"effect":"allow","kind":"output","uses":3})");
    CHECK(to_json(parse_rule("allow output/list")) ==
          R"({"effect":"allow","kind":"tool","server":"output","tool":"list"})");
    CHECK(to_json(parse_rule("ask gmail/send to=ada --touch")) ==
          R"({"effect":"ask","kind":"tool","server":"gmail","tool":"send",)"
          R"("arguments":{"/to":{"equals":"ada"}},"confirm":"touch"})");
    CHECK(parse_rule("ask request a.org POST --touch --expires 90m").confirm);
    CHECK(!parse_rule("ask gmail/send --touch=1").confirm); // an argument of that name
    for (const char* text : {"", "deny", "forbid fs/read", "ask output gmail", "deny fs", "ask notes/add n=less:x",
                             "ask notes/add n=in:x", "ask notes/add n=in:[1"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_rule(text), Error);
    }
}

TEST_CASE("a rule about requests names a host, and as much of the requests as it likes") {
    CHECK(to_json(parse_rule("allow request api.github.com")) ==
          R"({"effect":"allow","kind":"request","host":"api.github.com"})");
    CHECK(to_json(parse_rule("deny request api.github.com:443 DELETE,PUT /repos/** \"/a b=c\" --expires 90m")) ==
          R"({"effect":"deny","kind":"request","host":"api.github.com:443","methods":["DELETE","PUT"],)"
          R"("paths":["/repos/**","/a b=c"],"expiresAt":"2026-01-05T10:30:00.000Z"})");
    CHECK(to_json(parse_rule("ask request api.github.com POST /graphql query=glob:**mutation** /a/b=1")) ==
          R"({"effect":"ask","kind":"request","arguments":{"/a/b":{"equals":1},"/query":{"glob":"**mutation**"}},)"
          R"("host":"api.github.com","methods":["POST"],"paths":["/graphql"]})");
    CHECK(to_json(parse_rule("allow request a.org read-only --uses 3")) ==
          R"({"effect":"allow","kind":"request","host":"a.org","methods":["GET","HEAD"],"uses":3})");
    CHECK(to_json(parse_rule("allow request a.org /x")) ==
          R"({"effect":"allow","kind":"request","host":"a.org","paths":["/x"]})");
    CHECK(to_json(parse_rule("allow request github.com git-fetch /ada/plan.git")) ==
          R"({"effect":"allow","kind":"request","host":"github.com","methods":["GET","POST"],)"
          R"("paths":["/ada/plan.git/info/refs","/ada/plan.git/git-upload-pack"]})");
    CHECK(to_json(parse_rule("allow request github.com git-fetch")) ==
          R"({"effect":"allow","kind":"request","host":"github.com","methods":["GET","POST"],)"
          R"("paths":["/**/info/refs","/**/git-upload-pack"]})");
    CHECK(to_json(parse_allow_rule("request a.org GET /x")) ==
          R"({"effect":"allow","kind":"request","host":"a.org","methods":["GET"],"paths":["/x"]})");
    CHECK(parse_allow_rule("\"request\"/tool").server == "request");
}

TEST_CASE("a rule that inspects says what is put in, and where") {
    const auto injected = [](const std::string& options) {
        return to_json(parse_rule("inspect request a.org " + options).inject.value());
    };
    CHECK(to_json(parse_rule("inspect request a.org")) == R"({"effect":"inspect","kind":"request","host":"a.org"})");
    CHECK(injected("--bearer ${secret:T}") == R"({"as":"bearer","value":"${secret:T}"})");
    CHECK(injected("--variable T --basic ada:${secret:T}") ==
          R"({"as":"basic","value":"ada:${secret:T}","variable":"T"})");
    CHECK(injected(R"(GET /x --header "X-Key: ${secret:T}")") ==
          R"({"as":"header","name":"X-Key","value":"${secret:T}"})");
    CHECK(injected("--query key=${secret:T}") == R"({"as":"query","name":"key","value":"${secret:T}"})");
    CHECK(injected("--aws ${secret:ID}:${secret:KEY}") == R"({"as":"aws","value":"${secret:ID}:${secret:KEY}"})");
}

TEST_CASE("a method of a service's own is one, and a slip of a usual one is none") {
    const protocol::RuleSpec rule = parse_rule("allow request a.org PROPFIND,LIST,QUERY,FIND,PUSH");
    CHECK(rule.methods == std::vector<std::string>{"PROPFIND", "LIST", "QUERY", "FIND", "PUSH"});
    CHECK_THROWS_WITH_AS(parse_rule("allow request a.org GTE"),
                         doctest::Contains("GTE is no method of HTTP; did you mean GET?"), Error);
}

TEST_CASE("what is wrong with a rule about hosts or installs is said, with an example") {
    CHECK_THROWS_WITH_AS(parse_rule("allow network"),
                         doctest::Contains("a rule like network example.org:443, found \"network\": it names no host"),
                         Error);
    CHECK_THROWS_WITH_AS(parse_rule("allow network example.org x"), doctest::Contains("something behind it: x"), Error);
    CHECK_THROWS_WITH_AS(parse_rule("deny install x"), doctest::Contains("a rule about installs names no package"),
                         Error);
}

TEST_CASE("what is wrong with a rule about requests is said, with an example") {
    const auto problem = [](const std::string& text) -> std::string {
        try {
            parse_rule(text);
        } catch (const Error& error) {
            return error.message + " " + error.hint;
        }
        return "accepted";
    };
    for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
             {"allow request  ", "names no host"},
             {"allow request", "names no host"},
             {"allow request a.org GTE /x", "GTE is no method of HTTP; did you mean GET?"},
             {"allow request a.org GET,DELTE", "did you mean DELETE?"},
             {"allow request a.org get /x", "in capitals, such as GET,HEAD"},
             {"allow request a.org readonly", "read-only or git-fetch"},
             {"allow request a.org GET,", "in capitals"},
             {"allow request a.org GET POST", "POST is no path"},
             {"allow request a.org /x GET", "GET is no path"},
             {"allow request a.org a=1 a=2", "an argument twice"},
             {"allow request a.org --bearer ${secret:T}", "only a rule that inspects"},
             {"inspect request a.org --bearer", "a value with a secret"},
             {"inspect request a.org --bearer hunter2", "a value with a secret"},
             {"inspect request a.org --header ${secret:T}", "--header \"X-Key: ${secret:NAME}\""},
             {"inspect request a.org --query ${secret:T}", "--query key=${secret:NAME}"},
             {"inspect request a.org --bearer ${secret:T} --basic a:${secret:T}", "puts in one secret"},
             {"inspect request a.org --token ${secret:T}", "--token is no option"},
             {"inspect request a.org --variable T", "--variable comes with"},
             {"inspect network a.org", "inspect request api.github.com"},
             {"inspect fs/read", "inspect request api.github.com"}}) {
        CAPTURE(text);
        CAPTURE(problem(text));
        CHECK(problem(text).find(expected) != std::string::npos);
        CHECK(problem(text).find("request api.github.com") != std::string::npos);
    }
}

TEST_CASE("the rule for a request that was denied is read again") {
    protocol::Action action;
    action.kind = protocol::ActionKind::request;
    action.host = "api.example.org";
    action.port = 443;
    action.method = "POST";
    for (const char* path : {"/repos/ada/plan", "/a b=\"c\"", "/a=b", "/%20(x)"}) {
        action.path = path;
        const protocol::RuleSpec rule = parse_allow_rule(tools::allow_rule_for_request(action));
        CHECK(rule.host == "api.example.org:443");
        CHECK(rule.methods == std::vector<std::string>{"POST"});
        CHECK(rule.paths == std::vector<std::string>{path});
    }
}

TEST_CASE("a rule ends after so many uses, or after a time, and an argument may be called the same") {
    CHECK(to_json(parse_rule("allow notes/add a=1 --uses 10 --expires 12h")) ==
          R"({"effect":"allow","kind":"tool","server":"notes","tool":"add","arguments":{"/a":{"equals":1}},)"
          R"("expiresAt":"2026-01-05T21:00:00.000Z","uses":10})");
    CHECK(to_json(parse_rule("allow network example.org --uses 1")) ==
          R"({"effect":"allow","kind":"network","host":"example.org","uses":1})");
    CHECK(to_json(parse_rule("allow install --expires 90m")) ==
          R"({"effect":"allow","kind":"install","expiresAt":"2026-01-05T10:30:00.000Z"})");
    const auto arguments = *parse_allow_rule("notes/add uses=10 --uses=5 --uses 3").arguments;
    CHECK(arguments.size() == 2);
    CHECK(arguments.at("/--uses").equals->text() == "5");
    for (const char* text : {"allow notes/add --uses", "allow notes/add --uses x", "allow notes/add --uses 10000000",
                             "allow install 3", "allow network a.org --expires", "allow notes/add --expires 3"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_rule(text), Error);
    }
}

TEST_CASE("the pointer to an argument has its name back") {
    for (const char* name : {"path", "a/b", "~", "~1", "", "a~0/"}) {
        CHECK(argument_name(pointer_to(name)) == name);
    }
    CHECK_FALSE(argument_name(""));
    CHECK_FALSE(argument_name("/deep/er"));
}
