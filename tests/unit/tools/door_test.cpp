#include "tools_house.hpp"

using namespace tools_house;

namespace {

std::size_t calls_in(const fs::path& log) {
    std::size_t count = 0;
    std::ifstream file(log);
    for (std::string line; std::getline(file, line);) {
        count += has(line, "\"tools/call\"") ? 1 : 0;
    }
    return count;
}

Task<void> nothing_passes_unseen(House* house) {
    const fs::path log = house->folder.path / "log";
    house->add(house->fixture("s", {"--log", log.string()}));
    house->person->answer = [house](const protocol::Approval& approval) { house->person->deny(approval); };
    const auto denied = co_await house->call("s", "tool-1", R"({"s":"x"})");
    CHECK(denied->code() == ErrorCode::denied);
    CHECK(denied->error->message == "not today");
    CHECK(calls_in(log) == 0);
    REQUIRE(house->person->requested.size() == 1);
    const protocol::Approval& approval = house->person->requested[0];
    CHECK(approval.action.kind == protocol::ActionKind::tool);
    CHECK(approval.action.arguments->text() == R"({"s":"x"})");
    CHECK(approval.action.server_identity == house->registry->info("s").identity);
    CHECK(approval.action.tool_identity);
    CHECK(has(approval.hints.description.value(), "Echoes its text."));
    CHECK(approval.hints.read_only_hint == true);

    house->gate->detach(*house->person, Duration(0));
    const auto nobody = co_await house->call("s", "tool-1", R"({"s":"x"})");
    CHECK(nobody->code() == ErrorCode::denied);
    CHECK(has(nobody->text(), "nobody is attached"));
    CHECK(calls_in(log) == 0);
}

Task<void> wrong_arguments_ask_nobody(House* house) {
    house->add(house->fixture("s"));
    const auto wrong = co_await house->call("s", "tool-1", R"({"s":5})");
    CHECK(wrong->code() == ErrorCode::arguments_invalid);
    CHECK(wrong->error->message == "arguments.s: expected a string, found 5");
    const auto no_object = co_await house->call("s", "tool-1", "[1]");
    CHECK(no_object->code() == ErrorCode::arguments_invalid);
    const auto large = co_await house->call("s", "raw", "{\"s\":\"" + std::string(9 << 20, 'x') + "\"}");
    CHECK(large->code() == ErrorCode::limit_exceeded);
    CHECK(house->person->requested.empty());
}

Task<void> edited_arguments_are_called(House* house) {
    house->add(house->fixture("s"));
    const std::string edited = R"({"s" : "edited", "n":1e2})";
    house->person->answer = [&](const protocol::Approval& approval) {
        if (approval.action.tool == "tool-1") {
            house->person->respond(approval, protocol::Verdict::allow, RawJson::parse(R"({"s":1})"));
        }
        house->person->respond(approval, protocol::Verdict::allow, RawJson::parse(edited));
    };
    const auto call = co_await house->call("s", "raw", R"({"s":"x"})");
    CHECK(has(call->text(), "\"arguments\":" + edited));
    const auto checked = co_await house->call("s", "tool-1", R"({"s":"x"})");
    CHECK(checked->text() == "You passed to tool 1: edited");
    REQUIRE(house->person->refused.size() == 1);
    CHECK(has(house->person->refused[0], "arguments.s: expected a string"));
}

Task<void> changed_tool_is_decided_again(House* house) {
    const fs::path log = house->folder.path / "log";
    house->allow_tool("change");
    house->add(house->fixture("s", {"--log", log.string()}));
    house->person->answer = nullptr;
    const auto call = house->start_call("s", "tool-1", R"({"s":"x"})");
    co_await house->person->asked.wait();
    const auto change = co_await house->call("s", "change", "{}");
    CHECK(change->text() == "changed");
    house->person->allow(house->person->requested[0]);
    CHECK(co_await house->until([&house] { return house->person->requested.size() == 2; }));
    CHECK(calls_in(log) == 1); // that of `change`
    CHECK(has(house->person->requested[1].hints.description.value(), "Changed 1 times."));
    CHECK(house->person->requested[1].action.tool_identity != house->person->requested[0].action.tool_identity);
    house->person->allow(house->person->requested[1]);
    co_await call->done.wait();
    CHECK(call->text() == "You passed to tool 1: x");
}

Task<void> restless_server_is_given_up(House* house) {
    house->allow_tool("tool_2");
    house->add(house->fixture("s", {"--change-always"}));
    // Each decision takes so long that the tools have changed when it is made.
    house->person->answer = nullptr;
    const auto call = house->start_call("s", "tool-1", R"({"s":"x"})");
    for (std::size_t asked = 1; asked <= 4; ++asked) {
        CHECK(co_await house->until([&house, &asked] { return house->person->requested.size() == asked; }));
        co_await house->call("s", "tool_2", R"({"s":"y"})");
        house->person->allow(house->person->requested.back());
    }
    co_await call->done.wait();
    CHECK(has(call->text(), "changed its tools again and again"));
}

Task<void> cancel_waiting_and_running(House* house) {
    const fs::path log = house->folder.path / "log";
    house->allow_tool("hang");
    house->add(house->fixture("s", {"--log", log.string()}));
    house->person->answer = nullptr;
    const auto waiting = house->start_call("s", "tool-1", R"({"s":"x"})");
    co_await house->person->asked.wait();
    waiting->cancel->cancel();
    co_await waiting->done.wait();
    CHECK(waiting->code() == ErrorCode::request_cancelled);
    REQUIRE(house->person->resolved.size() == 1);
    CHECK(house->person->resolved[0].by == protocol::ResolvedBy::cancelled);
    CHECK(calls_in(log) == 0);

    const auto running = house->start_call("s", "hang", "{}");
    CHECK(co_await house->until([&log] { return calls_in(log) == 1; }));
    running->cancel->cancel();
    co_await running->done.wait();
    CHECK(running->code() == ErrorCode::request_cancelled);
    CHECK(co_await house->until([&log] { return has(read_text(log), "notifications/cancelled"); }));
}

Task<void> refuse_what_the_server_asks(House* house, std::string method) {
    house->add(house->fixture("s", {"--ask", method}));
    const auto call = co_await house->call("s", "tool-1", R"({"s":"x"})");
    CHECK_MESSAGE(has(call->text(), "-32601"), call->text());
}

Task<void> refuse_input_required(House* house) {
    house->add(house->fixture("s", {"--era", "modern", "--input-required", "--garbage"}));
    const auto call = co_await house->call("s", "tool-1", R"({"s":"x"})");
    CHECK(has(call->text(), "asks for more input"));
    CHECK(call->code() == ErrorCode::tool_server_failed);
}

} // namespace

TEST_CASE("no call reaches a tool server without a yes") {
    House house;
    house.run(nothing_passes_unseen(&house));
}

TEST_CASE("arguments that certainly do not fit ask nobody") {
    House house;
    house.run(wrong_arguments_ask_nobody(&house));
}

TEST_CASE("what a person edits is what is called, and it has to fit, too") {
    House house;
    house.run(edited_arguments_are_called(&house));
}

TEST_CASE("a tool whose definition changes while it is decided about is decided about again") {
    House house;
    house.run(changed_tool_is_decided_again(&house));
}

TEST_CASE("a server that changes its tools at every turn is given up") {
    House house;
    house.run(restless_server_is_given_up(&house));
}

TEST_CASE("a call that is cancelled withdraws its question, or is cancelled at the server") {
    House house;
    house.run(cancel_waiting_and_running(&house));
}

TEST_CASE("what a server asks in the middle of a call is refused, and the call ends") {
    for (const char* method : {"roots/list", "sampling/createMessage", "elicitation/create"}) {
        House house;
        house.run(refuse_what_the_server_asks(&house, method));
    }
    House house;
    house.run(refuse_input_required(&house));
}
