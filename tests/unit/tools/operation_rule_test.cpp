#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/json_codec.hpp"
#include "tools/operation_rule.hpp"
#include "tools/rule_text.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::tools;

namespace {

const WallTime now = *parse_rfc3339("2026-01-05T09:00:00Z");

// The rule as JSON, or what is wrong with it.
std::string named(const std::string& text) {
    const gate::ApiDocument document = gate::ApiDocument::parse(R"({"openapi": "3.1.0", "paths": {
        "/repos/{owner}/{repo}/issues": {
          "post": {"operationId": "issues/create", "requestBody": {"content": {"application/json": {"schema":
            {"type": "object", "properties": {"title": {"type": "string"}, "labels": {"type": "array"}}}}}}},
          "get": {"operationId": "issues/list"}}}})");
    try {
        std::string operation;
        protocol::RuleSpec rule = parse_rule(text, now, &operation);
        name_operation(rule, document, operation);
        return to_json(rule);
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::rule_invalid);
        return error.message + (error.hint.empty() ? "" : " " + error.hint);
    }
}

} // namespace

TEST_CASE("a rule names an operation, parameters of its path, and fields of its body") {
    CHECK(named("allow request api.example.org --operation issues/list") ==
          R"({"effect":"allow","kind":"request","host":"api.example.org","methods":["GET"],)"
          R"("paths":["/repos/*/*/issues"]})");
    CHECK(
        named("deny request api.example.org --operation issues/create owner=ada repo=glob:plan-* title=glob:**now**") ==
        R"({"effect":"deny","kind":"request","arguments":{"/title":{"glob":"**now**"}},"host":"api.example.org",)"
        R"("methods":["POST"],"paths":["/repos/ada/plan-*/issues"]})");
}

TEST_CASE("a rule that no request of the operation can meet is refused with the nearest name") {
    CHECK(named("allow request api.example.org --operation issues/creat") ==
          "expected an operation of the OpenAPI document, found issues/creat Did you mean issues/create? There are: "
          "issues/create, issues/list.");
    CHECK(named("allow request api.example.org --operation issues/create titel=x") ==
          "expected an argument that there is, found arguments.titel (the body of issues/create) Did you "
          "mean title? There are: title, labels.");
    CHECK(named("allow request api.example.org --operation issues/create labels=1").starts_with("arguments.labels: "));
    CHECK(named("allow request api.example.org --operation issues/list ownr=ada") ==
          "expected a parameter in the path of issues/list, found ownr Did you mean owner? There are: owner, repo.");
    for (const char* value : {"a/b", "glob:**", "a*", "..", "%2e", "true", "[1]", "under:a", "\"\""}) {
        CAPTURE(value);
        CHECK(named(std::string("allow request api.example.org --operation issues/list owner=") + value)
                  .starts_with("expected for owner, which is a part of the path"));
    }
}

TEST_CASE("an operation has its method and path, and is named where there is a document") {
    CHECK(named("allow request api.example.org GET --operation issues/list").find("has its method") !=
          std::string::npos);
    CHECK(named("allow request api.example.org /x --operation issues/list").find("has its method") !=
          std::string::npos);
    CHECK_THROWS_AS(parse_rule("allow request api.example.org --operation issues/list", now), Error);
}
