#include "config_inputs.hpp"
#include "server_inputs.hpp"
#include "tools_fixture.hpp"

#include <deque>

using namespace tools_fixture;
using protocol::ElicitationAction;

namespace {

// A user's client that answers when the test says so.
struct AskedUser final : tools::Elicitor {
    struct Asked {
        protocol::Elicitation question;
        tools::ValuesCheck check;
        tools::ElicitationReply reply;
        Event answered;
    };

    bool can_ask() const override { return is_there; }
    Task<tools::ElicitationReply> elicit(protocol::Elicitation question, tools::ValuesCheck check) override {
        Asked& each = asked.emplace_back();
        each.question = std::move(question);
        each.check = std::move(check);
        co_await each.answered.wait();
        co_return each.reply;
    }
    void accept(std::size_t number, const std::string& values) {
        Asked& each = asked.at(number);
        each.reply.content = each.check(RawJson::parse(values));
        each.reply.action = ElicitationAction::accept;
        each.answered.set();
    }
    void decline(std::size_t number) {
        asked.at(number).reply.action = ElicitationAction::decline;
        asked.at(number).answered.set();
    }

    bool is_there = true;
    std::deque<Asked> asked;
};

struct Taken {
    std::optional<Environment> values;
    std::optional<Error> error;
};

Task<void> keep(tools::ServerInputs* inputs, tools::ServerSpec spec, Taken* taken) {
    tools::CallContext context;
    try {
        taken->values = co_await inputs->take(std::move(context), std::move(spec));
    } catch (const Error& error) {
        taken->error = error;
    }
}

tools::ServerSpec tracker(const std::string& name = "tracker") {
    const tools::ConfigFile file = tools::parse_config(
        R"({"inputs":[{"type":"promptString","id":"token","description":"API\ntoken","password":true,"default":"x"},
                      {"type":"pickString","id":"site","options":["eu","us"],"default":"us"},
                      {"type":"promptString","id":"unused"}],
            "servers":{")" +
            name +
            R"(":{"url":"https://t.example/${input:site}","headers":{"Authorization":"Bearer ${input:token}"}}}})",
        "/w/.vscode/mcp.json");
    return file.servers.at(0);
}

const std::string answer = R"({"token":"s3cr3t","site":"eu"})";
const Environment values = {{"token", "s3cr3t"}, {"site", "eu"}};

} // namespace

TEST_CASE("the inputs that a server needs are one form, with passwords typed unseen") {
    AskedUser user;
    tools::ServerInputs inputs(&user);
    TaskScope tasks;
    Taken taken;
    tasks.spawn(keep(&inputs, tracker(), &taken));
    REQUIRE(user.asked.size() == 1);
    const protocol::Elicitation& question = user.asked[0].question;
    CHECK(question.server == "tracker");
    CHECK_FALSE(question.tool);
    CHECK(question.message.starts_with("tracker needs these before it starts.\n"));
    REQUIRE(question.fields.value().size() == 2);
    const protocol::ElicitationField& token = question.fields->front();
    CHECK(token.name == "token");
    CHECK(token.description == "API\ntoken");
    CHECK(token.secret == true);
    CHECK_FALSE(token.initial);
    const protocol::ElicitationField& site = question.fields->back();
    CHECK(site.type == protocol::ElicitationFieldType::choice);
    CHECK(site.options.value().size() == 2);
    CHECK(site.initial.value().text() == "\"us\"");
    for (const char* wrong : {R"({"token":"x"})", R"({"token":"x","site":"de"})", R"({"token":"\u0000","site":"eu"})",
                              R"({"token":"x","site":"eu","other":"y"})", R"({"token":7,"site":"eu"})"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(user.accept(0, wrong), Error);
    }
    CHECK(inputs.known(tracker()).empty());
    user.accept(0, answer);
    CHECK(taken.values == values);
}

TEST_CASE("an input is asked for once: for a start again, and for another server of the file") {
    AskedUser user;
    tools::ServerInputs inputs(&user);
    TaskScope tasks;
    Taken first;
    Taken meanwhile;
    tasks.spawn(keep(&inputs, tracker(), &first));
    tasks.spawn(keep(&inputs, tracker("other"), &meanwhile));
    REQUIRE(user.asked.size() == 1);
    CHECK_FALSE(meanwhile.values);
    user.accept(0, answer);
    CHECK(first.values == values);
    CHECK(meanwhile.values == values);
    Taken again;
    tasks.spawn(keep(&inputs, tracker(), &again));
    CHECK(again.values == values);
    CHECK(user.asked.size() == 1);

    // Another file's input of this id is another one, and so is one of no file for each server.
    std::deque<Taken> others(3);
    tools::ServerSpec spec = tracker();
    spec.file = "/w/.mcp.json";
    tasks.spawn(keep(&inputs, spec, &others[0]));
    spec.file.reset();
    tasks.spawn(keep(&inputs, spec, &others[1]));
    spec.name = "other";
    tasks.spawn(keep(&inputs, spec, &others[2]));
    CHECK(user.asked.size() == 4);
    for (std::size_t number = 1; number < 4; ++number) {
        user.decline(number);
    }
    CHECK(others[2].error);
}

TEST_CASE("after a failed start the passwords are asked for again, and only these") {
    AskedUser user;
    tools::ServerInputs inputs(&user);
    TaskScope tasks;
    Taken taken;
    tasks.spawn(keep(&inputs, tracker(), &taken));
    user.accept(0, answer);
    inputs.forget_passwords(tracker());
    CHECK(inputs.known(tracker()) == Environment{{"site", "eu"}});
    tasks.spawn(keep(&inputs, tracker(), &taken));
    REQUIRE(user.asked.size() == 2);
    CHECK(user.asked[1].question.message.starts_with("tracker needs this before it starts.\n"));
    REQUIRE(user.asked[1].question.fields.value().size() == 1);
    CHECK(user.asked[1].question.fields->front().name == "token");
    user.accept(1, R"({"token":"right"})");
    CHECK(taken.values->at("token") == "right");
}

TEST_CASE("without an answer the start fails, says how to give the value, and the next start asks again") {
    AskedUser user;
    tools::ServerInputs inputs(&user);
    TaskScope tasks;
    Taken declined;
    tasks.spawn(keep(&inputs, tracker(), &declined));
    user.decline(0);
    REQUIRE(declined.error);
    CHECK(declined.error->code == ErrorCode::denied);
    CHECK(declined.error->message == R"(the tool server "tracker" needs "token", "site", and no user gave it)");
    CHECK(has(declined.error->hint, "write ${VAR} in place of ${input:token}"));
    user.is_there = false;
    Taken alone;
    tasks.spawn(keep(&inputs, tracker(), &alone));
    REQUIRE(alone.error);
    CHECK(has(alone.error->message, "no editor or terminal is there"));
    user.is_there = true;
    Taken again;
    tasks.spawn(keep(&inputs, tracker(), &again));
    CHECK(user.asked.size() == 2);
    user.accept(1, answer);
    CHECK(again.values == values);
}

TEST_CASE("a caller that is cancelled takes its question with it, and one that waited asks for itself") {
    AskedUser user;
    tools::ServerInputs inputs(&user);
    TaskScope tasks;
    Taken first;
    Taken second;
    const std::shared_ptr<CancelState> cancel = tasks.spawn(keep(&inputs, tracker(), &first));
    tasks.spawn(keep(&inputs, tracker("other"), &second));
    CHECK(user.asked.size() == 1);
    cancel->cancel();
    REQUIRE(user.asked.size() == 2);
    user.accept(1, answer);
    CHECK(second.values == values);
}
