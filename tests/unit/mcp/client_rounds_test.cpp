// A call of the modern era that is answered by a wish for more input.

#include "asked_user.hpp"

using namespace cellgate;
using namespace cellgate::mcp::test;

namespace {

// Answers each tools/call with the next of these results, the last one again and again.
struct Rounds : Talk {
    explicit Rounds(std::vector<std::string> results)
        : Talk(modern([this, results](const Json& message) -> Lines {
              if (method(message) != "tools/call") {
                  return {};
              }
              calls.push_back(message);
              return {mcp::test::result(message, results[std::min(calls.size(), results.size()) - 1])};
          })) {
        follower = user;
    }

    std::shared_ptr<AskedUser> user = std::make_shared<AskedUser>();
    std::vector<Json> calls;
};

const char* const done = R"({"resultType":"complete","content":[{"type":"text","text":"done"}]})";
const std::string asks =
    std::string(R"("inputRequests":{"the key":{"method":"elicitation/create","params":)") + question + "}}";

std::string input_required(const std::string& more) {
    return R"({"resultType":"input_required",)" + more + "}";
}

} // namespace

TEST_CASE("the answers are in the same call under another id, and the state exactly as it came") {
    Rounds talk({input_required(asks + R"(,"requestState":"a\u0062 \/ \ud83d\ude00")"), done});
    talk.call(R"({ "s" : 1.0 })");
    REQUIRE_MESSAGE(talk.result, talk.failure);
    REQUIRE(talk.calls.size() == 2);
    CHECK(talk.user->asked == std::vector<std::string>{"when?"});
    CHECK(talk.calls[0]["id"] != talk.calls[1]["id"]);
    CHECK(talk.calls[1]["params"]["inputResponses"]["the key"] ==
          Json::parse(R"({"action":"accept","content":{"day":"monday"}})"));
    CHECK_FALSE(talk.calls[0]["params"].contains("requestState"));
    CHECK(talk.server->count(R"("requestState":"a\u0062 \/ \ud83d\ude00")") == 1);
    CHECK(talk.server->count(R"("arguments":{ "s" : 1.0 })") == 2);
}

TEST_CASE("no state is sent where none came, and answers of one round only once") {
    Rounds talk({input_required(asks), input_required(R"("requestState":"x")"), done});
    talk.call();
    REQUIRE(talk.calls.size() == 3);
    CHECK_FALSE(talk.calls[1]["params"].contains("requestState"));
    CHECK_FALSE(talk.calls[2]["params"].contains("inputResponses"));
    CHECK(talk.calls[2]["params"]["requestState"] == "x");
    CHECK(talk.result);
}

TEST_CASE("a decline is an answer, too, and so are the folders") {
    Rounds talk(
        {input_required(R"("inputRequests":{"r":{"method":"roots/list"},"q":{"method":"elicitation/create","params":)" +
                        std::string(question) + "}}"),
         done});
    talk.user->answer = {};
    talk.call();
    REQUIRE(talk.calls.size() == 2);
    CHECK(talk.calls[1]["params"]["inputResponses"] == Json::parse(R"({"r":{"roots":[]},"q":{"action":"decline"}})"));
}

TEST_CASE("what a call may not ask fails it, and no user is asked") {
    struct Case {
        std::string asks;
        std::string problem;
    };
    const Case cases[] = {
        {R"("inputRequests":{"s":{"method":"sampling/createMessage","params":{}}})", "has no model"},
        {R"("inputRequests":{"s":{"method":"made/up"}})", "of a kind that there is not"},
        {R"("inputRequests":{"s":{"method":"elicitation/create","params":{}}})", "cannot be shown"},
        {R"("inputRequests":[])", "expected an object"},
        {R"("requestState":7)", "expected a string"},
        {R"("other":7)", "found neither"},
    };
    for (const Case& each : cases) {
        Rounds talk({input_required(each.asks), done});
        talk.call();
        CHECK_MESSAGE(has(talk.failure, each.problem), talk.failure);
        CHECK(talk.user->asked.empty());
        CHECK(talk.calls.size() == 1);
    }
}

TEST_CASE("a tool that asks without end is called sixteen times") {
    Rounds talk({input_required(R"("requestState":"again")")});
    talk.call();
    CHECK(has(talk.failure, "asked for more input 16 times"));
    CHECK(talk.calls.size() == 16);
}

TEST_CASE("a call that is cancelled while its question waits withdraws it") {
    Rounds talk({input_required(asks), done});
    talk.user->answers_at_once = false;
    const std::shared_ptr<CancelState> running = talk.call();
    CHECK(talk.user->waiting == 1);
    running->cancel();
    CHECK(talk.user->waiting == 0);
    CHECK(talk.calls.size() == 1);
}
