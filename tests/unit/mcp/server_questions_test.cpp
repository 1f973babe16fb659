// The questions that a tool of the server asks its client, in both eras.

#include "server_fixture.hpp"

using namespace cellgate;
using namespace cellgate::mcp::test;

TEST_CASE("a question of the legacy era is a request, and only its own answer counts") {
    struct Case {
        const char* answer;
        mcp::Consent consent;
    };
    const Case cases[] = {
        {R"("result":{"action":"accept","content":{"allow":true}})", mcp::Consent::once},
        {R"("result":{"action":"accept","content":{"allow":true,"again":true}})", mcp::Consent::once}, // not offered
        {R"("result":{"action":"accept","content":{"allow":false}})", mcp::Consent::not_ticked},
        {R"("result":{"action":"accept","content":{"allow":"true"}})", mcp::Consent::not_ticked},
        {R"("result":{"action":"accept","content":{"again":true}})", mcp::Consent::not_ticked},
        {R"("result":{"action":"accept","content":{}})", mcp::Consent::not_ticked},
        {R"("result":{"action":"accept"})", mcp::Consent::not_ticked},
        {R"("result":{"action":"accept","content":7})", mcp::Consent::declined},
        {R"("result":{"action":"decline","content":{"allow":true}})", mcp::Consent::declined},
        {R"("result":{"action":"cancel"})", mcp::Consent::cancelled},
        {R"("result":{"content":{"allow":true}})", mcp::Consent::declined},
        {R"("result":{})", mcp::Consent::declined},
    };
    for (const Case& each : cases) {
        CAPTURE(each.answer);
        Fixture fixture;
        Bare client(fixture);
        client.initialize("2025-11-25", R"({"elicitation":{"form":{}}})");
        client.request(1, "tools/call", R"({"name":"ask"})");
        const Json question = client.asked("elicitation/create");
        REQUIRE(!question.is_null());
        CHECK(question["params"]["message"] == "may I?");
        // To a question that was not put.
        client.say(R"({"jsonrpc":"2.0","id":77,"result":{"action":"accept","content":{"allow":true}}})");
        CHECK(fixture.record.answers.empty());
        client.say(R"({"jsonrpc":"2.0","id":)" + question["id"].dump() + "," + each.answer + "}");
        CHECK(fixture.record.last == each.consent);
        CHECK(fixture.record.answers == std::vector<bool>{each.consent == mcp::Consent::once});
        CHECK(text_of(client.answer(1)) == (each.consent == mcp::Consent::once ? "yes" : "no"));
    }
}

TEST_CASE("a question that may be answered until the cell ends has a box of its own for that") {
    for (const bool again : {true, false}) {
        Fixture fixture;
        fixture.record.offers_until_end = true;
        Bare client(fixture);
        client.initialize("2025-11-25", R"({"elicitation":{"form":{}}})");
        client.request(1, "tools/call", R"({"name":"ask"})");
        const Json question = client.asked("elicitation/create");
        CHECK(question["params"]["requestedSchema"]["properties"]["again"]["type"] == "boolean");
        CHECK(question["params"]["requestedSchema"]["required"] == Json::parse(R"(["allow"])"));
        client.say(R"({"jsonrpc":"2.0","id":)" + question["id"].dump() +
                   R"(,"result":{"action":"accept","content":{"allow":true,"again":)" + (again ? "true" : "false") +
                   "}}}");
        CHECK(fixture.record.last == (again ? mcp::Consent::until_end : mcp::Consent::once));
    }
}

TEST_CASE("a yes to a withdrawn question of the legacy era answers no other one") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize("2025-11-25", R"({"elicitation":{"form":{}}})");
    client.request(1, "tools/call", R"({"name":"swap"})");
    const Json harmless = client.asked("elicitation/create");
    REQUIRE(harmless["params"]["message"] == "a look?");
    fixture.record.release.set();
    REQUIRE(fixture.record.cancelled == 1);
    const std::vector<Json> questions = client.all("elicitation/create");
    REQUIRE(questions.size() == 2);
    const Json& other = questions.back();
    CHECK(other["params"]["message"] == "delete all?");
    CHECK(other["id"] != harmless["id"]);

    client.accept(harmless);
    CHECK(fixture.record.answers.empty());
    CHECK(client.answer(1).is_null());
    client.accept(other);
    CHECK(fixture.record.answers == std::vector<bool>{true});
    CHECK(text_of(client.answer(1)) == "done");
}

TEST_CASE("an error as the answer to a question is no yes") {
    Fixture fixture;
    Bare client(fixture);
    client.initialize("2025-06-18", R"({"elicitation":{}})");
    client.request(1, "tools/call", R"({"name":"ask"})");
    const Json question = client.asked("elicitation/create");
    client.say(R"({"jsonrpc":"2.0","id":)" + question["id"].dump() + R"(,"error":{"code":-1,"message":"no form"}})");
    CHECK(client.answer(1)["result"]["isError"] == true);
    CHECK(fixture.record.answers.empty());
}

TEST_CASE("who cannot show a form is not asked") {
    for (const std::string capabilities : {"{}", R"({"elicitation":{"url":{}}})", R"({"elicitation":true})", "[]"}) {
        Fixture fixture;
        Bare client(fixture);
        client.initialize("2025-11-25", capabilities);
        client.request(1, "tools/call", R"({"name":"ask"})");
        CHECK(text_of(client.answer(1)) == "cannot ask");
    }
}

TEST_CASE("a question of the modern era comes back with its state, once") {
    Fixture fixture;
    Bare client(fixture);
    const std::string yes = R"(,"inputResponses":{"consent":{"action":"accept","content":{"allow":true}}})";
    client.request(1, "tools/call", call("ask", yes)); // an answer before the question
    const Json first = client.answer(1)["result"];
    CHECK(first["resultType"] == "input_required");
    CHECK(first["inputRequests"]["consent"]["method"] == "elicitation/create");
    CHECK(first["inputRequests"]["consent"]["params"]["message"] == "may I?");
    const std::string state = R"(,"requestState":)" + first["requestState"].dump();

    client.request(2, "tools/call", call("ask", yes + R"(,"requestState":"00000000000000000000000000000000")"));
    CHECK(client.answer(2)["error"]["code"] == -32602);
    client.request(3, "tools/call", call("hold", yes + state)); // the answer to something else
    CHECK(client.answer(3)["error"]["code"] == -32602);
    CHECK(fixture.record.answers.empty());

    client.request(4, "tools/call", call("ask", state)); // without an answer it is asked again
    const Json again = client.answer(4)["result"];
    CHECK(again["resultType"] == "input_required");
    const std::string new_state = R"(,"requestState":)" + again["requestState"].dump();
    CHECK(new_state != state);

    client.request(5, "tools/call", call("ask", yes + new_state));
    CHECK(text_of(client.answer(5)) == "yes");
    CHECK(fixture.record.answers == std::vector<bool>{true});
    CHECK(fixture.record.calls == 1);
    client.request(6, "tools/call", call("ask", yes + new_state));
    CHECK(client.answer(6)["error"]["code"] == -32602);
    CHECK(fixture.record.calls == 1);
}

TEST_CASE("a yes to a question that was withdrawn while its call was suspended answers no other one") {
    const std::string yes = R"(,"inputResponses":{"consent":{"action":"accept","content":{"allow":true}}})";
    Fixture fixture;
    Bare client(fixture);
    client.request(1, "tools/call", call("swap"));
    const Json harmless = client.answer(1)["result"];
    REQUIRE(harmless["inputRequests"]["consent"]["params"]["message"] == "a look?");
    fixture.record.release.set();
    REQUIRE(fixture.record.cancelled == 1);

    client.request(2, "tools/call", call("swap", yes + R"(,"requestState":)" + harmless["requestState"].dump()));
    CHECK(fixture.record.answers.empty());
    const Json other = client.answer(2)["result"];
    REQUIRE(other["resultType"] == "input_required");
    CHECK(other["inputRequests"]["consent"]["params"]["message"] == "delete all?");
    client.request(3, "tools/call", call("swap", yes + R"(,"requestState":)" + other["requestState"].dump()));
    CHECK(fixture.record.answers == std::vector<bool>{true});
    CHECK(text_of(client.answer(3)) == "done");
    CHECK(fixture.record.calls == 1);
}

TEST_CASE("a question that is never answered ends its call after a while") {
    Fixture fixture;
    Bare client(fixture);
    client.request(1, "tools/call", call("ask"));
    REQUIRE(client.answer(1)["result"]["resultType"] == "input_required");
    fixture.clock.advance(9min);
    CHECK(fixture.record.cancelled == 0);
    fixture.clock.advance(2min);
    CHECK(fixture.record.cancelled == 1);
    const std::string state = R"(,"requestState":)" + client.answer(1)["result"]["requestState"].dump();
    client.request(2, "tools/call", call("ask", state));
    CHECK(client.answer(2)["error"]["code"] == -32602);
}
