#include "base/error.hpp"
#include "base/json_codec.hpp"
#include "suggested_rule.hpp"

#include <doctest/doctest.h>

namespace {

using namespace cellgate;
using namespace cellgate::service;

protocol::Action call(const char* arguments, const char* tool = "read") {
    protocol::Action action;
    action.kind = protocol::ActionKind::tool;
    action.server = "files";
    action.tool = tool;
    action.arguments_text = RawJson::checked(arguments);
    return action;
}

std::string conditions(const std::vector<protocol::Action>& actions) {
    const protocol::RuleSpec rule = suggested_rule(actions);
    CHECK(rule.server == "files");
    CHECK(rule.tool == "read");
    return rule.arguments ? to_json(*rule.arguments) : "none";
}

} // namespace

TEST_CASE("the narrowest rule for some calls has what their arguments have alike") {
    CHECK(conditions({call(R"({"path":"a/b","n":1})")}) == R"({"/n":{"equals":1},"/path":{"equals":"a/b"}})");
    CHECK(conditions({call(R"({"path":"a/b"})"), call(R"({"path":"a/c/d"})")}) == R"({"/path":{"under":"a"}})");
    CHECK(conditions({call(R"({"path":"/x/a/b"})"), call(R"({"path":"/x/c"})")}) == R"({"/path":{"under":"/x"}})");
    CHECK(conditions({call(R"({"word":"a"})"), call(R"({"word":"b"})")}) == R"({"/word":{"in":["a","b"]}})");
    CHECK(conditions({call(R"({"path":"/a"})"), call(R"({"path":"/b"})")}) == R"({"/path":{"in":["/a","/b"]}})");
    CHECK(conditions({call(R"({"a/b~c":1})")}) == R"({"/a~1b~0c":{"equals":1}})");
}

TEST_CASE("an argument that not every call has, or of too many values, is no condition") {
    CHECK(conditions({call(R"({"n":1,"m":1})"), call(R"({"m":1})")}) == R"({"/m":{"equals":1}})");
    std::vector<protocol::Action> many;
    for (int i = 0; i < 11; ++i) {
        many.push_back(call(("{\"n\":" + std::to_string(i) + "}").c_str()));
    }
    CHECK(conditions(many) == "none");
}

TEST_CASE("connections to one host make a rule, and what has nothing alike is refused") {
    protocol::Action connection;
    connection.kind = protocol::ActionKind::network;
    connection.host = "example.org";
    connection.port = 443;
    CHECK(suggested_rule({connection, connection}).host == "example.org:443");
    protocol::Action other = connection;
    other.port = 80;
    CHECK_THROWS_AS(suggested_rule({connection, other}), Error);
    CHECK_THROWS_AS(suggested_rule({call("{}"), call("{}", "write")}), Error);
}

TEST_CASE("requests to one host make a rule of their methods and paths") {
    const auto request = [](const std::string& method, const std::string& path) {
        protocol::Action action;
        action.kind = protocol::ActionKind::request;
        action.host = "api.example.org";
        action.port = 443;
        action.method = method;
        action.path = path;
        return action;
    };
    CHECK(to_json(suggested_rule({request("POST", "/b"), request("GET", "/a"), request("GET", "/b")})) ==
          R"({"effect":"allow","kind":"request","host":"api.example.org:443","methods":["GET","POST"],)"
          R"("paths":["/a","/b"]})");
    std::vector<protocol::Action> many;
    for (int i = 0; i < 11; ++i) {
        many.push_back(request("GET", "/repos/ada/plan" + std::to_string(i)));
    }
    CHECK(suggested_rule(many).paths == std::vector<std::string>{"/repos/ada/**"});
}
