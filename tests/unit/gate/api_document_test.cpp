// OpenAPI documents: how they describe a request, in questions and answers about it.

#include "base/error.hpp"
#include "gate/api_document.hpp"
#include "gate_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

using namespace gate_fixture;
using gate::ApiDocument;

namespace {

constexpr const char* issues = R"({
  "openapi": "3.0.3",
  "servers": [{"url": "https://api.example.org/v1/"}],
  "paths": {
    "/repos/{owner}/{repo}/issues": {
      "parameters": [],
      "get": {"operationId": "issues/list", "summary": "List issues"},
      "post": {"operationId": "issues/create", "summary": "Create an issue",
               "requestBody": {"$ref": "#/components/requestBodies/Issue"}}
    },
    "/repos/{owner}/{repo}/{what}": {"get": {"operationId": "repos/what"}},
    "/repos/{owner}/{repo}/compare/{base}...{head}": {"get": {"operationId": "repos/compare"}},
    "/ping": {"get": {}}
  },
  "components": {
    "requestBodies": {"Issue": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Issue"}}}}},
    "schemas": {"Issue": {"type": "object", "properties": {"title": {"type": "string"}}}}
  }
})";

// The id of the operation, and its parameters.
std::string found(const ApiDocument& document, std::string_view method, std::string_view path) {
    const auto match = document.find(method, path);
    if (!match) {
        return "none";
    }
    std::string text = match->operation->id;
    for (const auto& [name, value] : match->parameters) {
        text += " " + name + "=" + value;
    }
    return text;
}

gate::HttpRequest create_issue() {
    gate::HttpRequest made;
    made.tls = true;
    made.host = "api.example.org";
    made.port = 443;
    made.method = "POST";
    made.path = "/v1/repos/ada/plan/issues";
    return made;
}

RuleSpec described_by(const std::string& path) {
    RuleSpec spec = rule(Effect::inspect, ActionKind::request);
    spec.host = "api.example.org";
    spec.openapi = path;
    return spec;
}

void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

} // namespace

TEST_CASE("the operation of a request is the one that says most of its path") {
    const ApiDocument document = ApiDocument::parse(issues);
    CHECK(document.operations().size() == 5);
    CHECK(found(document, "GET", "/v1/repos/ada/plan/issues") == "issues/list owner=ada repo=plan");
    CHECK(found(document, "POST", "/v1/repos/ada/plan/issues") == "issues/create owner=ada repo=plan");
    CHECK(found(document, "GET", "/v1/repos/ada/plan/pulls") == "repos/what owner=ada repo=plan what=pulls");
    CHECK(found(document, "GET", "/v1/repos/ada/plan/compare/a...b") == "repos/compare owner=ada repo=plan");
    CHECK(found(document, "GET", "/v1/ping") == "GET /v1/ping");
    CHECK(found(document, "DELETE", "/v1/ping") == "none");
    CHECK(found(document, "GET", "/ping") == "none");
    CHECK(found(document, "GET", "/v1/repos//plan/issues") == "none");
    CHECK(document.find("issues/create")->body_schema ==
          R"({"type": "object", "properties": {"title": {"type": "string"}}})");
    CHECK(document.find("issues/list")->body_schema.empty());
}

TEST_CASE("what is no OpenAPI document of JSON is refused with the reason") {
    for (const char* text : {"", "openapi: 3.0.0", R"({"swagger": "2.0", "paths": {}})", R"({"openapi": "3.1.0"})",
                             R"({"openapi": "3.1.0", "openapi": "3.1.0", "paths": {}})"}) {
        CAPTURE(text);
        CHECK(error_of([&] { ApiDocument::parse(text); }) == ErrorCode::rule_invalid);
    }
    // References that do not resolve, or only to each other, describe no body.
    const ApiDocument document = ApiDocument::parse(R"({"openapi": "3.1.0", "paths": {
        "/a": {"post": {"requestBody": {"$ref": "#/paths/~1a/post/requestBody"}}},
        "/b": {"post": {"requestBody": {"$ref": "#/x"}}},
        "/c": {"post": {"requestBody": {"$ref": "#/components"}}}},
        "components": {"$ref": "#/components"}})");
    for (const gate::ApiOperation& each : document.operations()) {
        CHECK(each.body_schema.empty());
    }
}

TEST_CASE("a question names the operation, and an answer may allow it") {
    Fixture fixture;
    const std::string path = (fixture.base / "api.json").string();
    write(path, issues);
    fixture.add(described_by(path), Scope::workspace);
    const auto call = fixture.ask(create_issue());
    const protocol::Approval& approval = fixture.user.requested.back();
    CHECK(approval.display.front() == "POST https://api.example.org/v1/repos/ada/plan/issues");
    CHECK(approval.display.at(1) == "operation issues/create of its OpenAPI document: \"Create an issue\", owner ad");
    CHECK(approval.display.at(2) == "↳ a, repo plan");
    const auto choice =
        std::find_if(approval.choices.begin(), approval.choices.end(), [](const protocol::Choice& each) {
            return each.label == "any issues/create at api.example.org, this session";
        });
    REQUIRE(choice != approval.choices.end());
    CHECK(to_json(*choice->rule) == R"({"effect":"allow","kind":"request","host":"api.example.org:443",)"
                                    R"("methods":["POST"],"paths":["/v1/repos/*/*/issues"]})");
    fixture.allow(choice->scope, choice->rule);
    CHECK(call->allowed());
    gate::HttpRequest other = create_issue();
    other.path = "/v1/repos/bob/list/issues";
    CHECK(fixture.ask(other)->allowed());
    other.path = "/v1/repos/bob/list/pulls";
    const auto pulls = fixture.ask(other);
    CHECK(fixture.user.requested.back().display.at(1) ==
          "note: the OpenAPI document of this host has no such operation");
    fixture.deny();
}

TEST_CASE("a document that cannot be read is refused by policy/add, and is a note in a question") {
    Fixture fixture;
    const std::string path = (fixture.base / "api.json").string();
    const auto refusal = [&](const std::string& name) { return error_of([&] { fixture.add(described_by(name)); }); };
    CHECK(refusal(path) == ErrorCode::rule_invalid);
    CHECK(refusal("api.json") == ErrorCode::rule_invalid);
    write(path, "{}");
    CHECK(refusal(path) == ErrorCode::rule_invalid);
    write(path, issues);
    fixture.add(described_by(path), Scope::workspace);
    std::filesystem::remove(path);
    fixture.ask(create_issue());
    CHECK(fixture.user.requested.back().display.at(1).starts_with("note: the OpenAPI document "));
    fixture.deny();
}

TEST_CASE("a document where code could change it is refused, also behind a link") {
    Fixture fixture;
    const std::string inside = (fixture.root / "api.json").string();
    const std::string link = (fixture.base / "link.json").string();
    write(inside, issues);
    std::filesystem::create_symlink(inside, link);
    CHECK(error_of([&] { fixture.add(described_by(inside)); }) == ErrorCode::rule_invalid);
    CHECK(error_of([&] { fixture.add(described_by(link)); }) == ErrorCode::rule_invalid);
    std::filesystem::rename(inside, fixture.base / "api.json"); // the control
    fixture.add(described_by((fixture.base / "api.json").string()));
}
