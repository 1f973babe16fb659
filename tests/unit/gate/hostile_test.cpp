// Hostile clients of the gate. What each hazard is tested by; "control" is what shows that the attack would work:
//
//   two answers at once ................ approvals_test "of two answers the first wins", run_blocking_test "a second
//   one waits" answers to gone or foreign ones .... approvals_test "answers to what never was", "late"; here "foreign"
//   edits that fail the schema ......... edits_test; over the wire tests/integration/test_approvals.py
//   rules that do not match ............ approvals_test "a rule that does not fit the action"
//   a thread that asks for ever ........ here "a thread that asks for ever"; presence_test; channel_test "a call ends"
//   10,000 pending calls ............... approvals_test "10,000 waiting calls"; here "large calls"
//   arguments with duplicate keys ...... approvals_test "name a key twice"; channel_test "no call is refused"
//   huge integers ...................... matchers_test (equality by every digit), display_test (shown as they came)
//   bidi and control characters ........ display_test "hidden characters"; choices_test "a hostile name"; here
//   "padding" a description that imitates ........ display_test "a tool's description cannot pass for a prompt"; here
//   "title" a thread left by approvals "deny" .. here "a thread of a cell without prompts" paths that hang
//   .................... run_blocking_test

#include "base/escape_unprintable.hpp"
#include "gate_fixture.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;

namespace {

std::string json_text(const std::string& text) {
    std::string json;
    append_json_string(json, text);
    return json;
}

} // namespace

TEST_CASE("a thread of a cell without prompts raises no prompt, until a cell with another mode begins") {
    Fixture fixture;
    const Action call = tool(R"({"n":1})");
    CHECK(fixture.ask(call)->waits()); // control: code with nothing running asks
    fixture.run_execution("quiet", protocol::ApprovalMode::deny);
    CHECK(fixture.ask(call, "quiet")->denied());
    fixture.gate->end_execution("quiet");
    const auto left_behind = fixture.ask(call);
    CHECK(left_behind->denied());
    CHECK(left_behind->decision->reason.find("\"deny\"") != std::string::npos);
    CHECK(fixture.explain(call).effect == Effect::deny);
    CHECK(fixture.ask(call, "", "other")->waits()); // another session is not meant
    gate::Request not_code;
    not_code.action = launch({"/usr/bin/python3"});
    not_code.session_id = "s";
    CHECK(fixture.ask(std::move(not_code))->waits()); // nor the sidecar itself, which starts a kernel
    fixture.add(rule(Effect::allow, ActionKind::tool, "files", "stat"));
    CHECK(fixture.ask(tool("{}", "stat"))->allowed()); // a rule needs no user
    fixture.run_execution("asking");
    fixture.gate->end_execution("asking");
    CHECK(fixture.ask(call)->waits());
    fixture.run_execution("quiet again", protocol::ApprovalMode::deny);
    fixture.gate->end_session("s");
    CHECK(fixture.ask(call)->waits());
}

TEST_CASE("what a cell that allows everything left behind has no grant") {
    Fixture fixture;
    fixture.run_execution("free", protocol::ApprovalMode::allow);
    CHECK(fixture.ask(tool("{}"), "free")->allowed()); // control
    fixture.gate->end_execution("free");
    CHECK(fixture.ask(tool("{}"))->waits());
    CHECK(fixture.ask(tool("{}"), "free")->waits());
}

TEST_CASE("padding cannot put text of an argument where a line of ours would stand") {
    Fixture fixture;
    const std::string padding(500, ' ');
    const std::string attack = "x" + padding + "Allow? [y/n] y";
    for (const std::string& arguments :
         {R"({"a":)" + json_text(attack) + "}", R"({"a":)" + json_text("one\n" + attack + "\n") + "}",
          "{" + json_text(attack) + ":1}", R"({"a":[)" + json_text(attack) + "]}",
          R"({"a":)" + json_text(std::string(300, '-') + attack) + "}",
          "{\"a\":" + json_text("\xe4\xb8\xad" + std::string(100, ' ') + "\xe4\xb8\xad") + "}"}) {
        CAPTURE(arguments);
        fixture.ask(tool(arguments));
        std::string whole;
        for (const std::string& line : fixture.user.requested.back().display) {
            CHECK(line.size() <= 80);
            const std::size_t start = line.find_first_not_of(' ');
            CHECK_FALSE(line.substr(start).starts_with("Allow"));
            whole += line.substr(start).starts_with("↳ ") ? line.substr(start + std::string("↳ ").size()) : "\n" + line;
        }
        const std::string shown = arguments.find("Allow") != std::string::npos ? padding + "Allow? [y/n] y" : "   ";
        CHECK(whole.find(shown) != std::string::npos); // nothing is cut
        fixture.deny();
    }
    // Control: on a terminal of 80 columns, one long line puts the words at the beginning of a row.
    CHECK(("a: \"x" + std::string(155, ' ') + "Allow?").substr(160).starts_with("Allow?"));
}

TEST_CASE("a text cannot look like the rest of the line before it") {
    Fixture fixture;
    fixture.ask(tool(R"({"a":"x\n↳ y", "↳ b":"↳ c"})"));
    for (const std::string& line : fixture.user.requested.back().display) {
        CHECK_FALSE(line.substr(line.find_first_not_of(' ')).starts_with("↳"));
    }
}

TEST_CASE("texts that differ by their last line break look different") {
    Fixture fixture;
    const auto shown = [&fixture](const std::string& text) {
        fixture.ask(tool(R"({"a":)" + json_text(text) + "}"));
        return fixture.user.requested.back().display;
    };
    std::vector<std::vector<std::string>> seen;
    for (const char* text : {"", "a", "a\n", "a\n\n", "a\nb", "a\nb\n", "\n", "\n\n", "a\\n", "a ", "a \n"}) {
        CAPTURE(text);
        const std::vector<std::string> lines = shown(text);
        CHECK(std::find(seen.begin(), seen.end(), lines) == seen.end());
        seen.push_back(lines);
    }
    CHECK(shown("a\n") == std::vector<std::string>{"tool read_file of files", "a: 1 line", "  | a"});
}

TEST_CASE("a title is one short line, and the words of a tool server stay behind their mark") {
    Fixture fixture;
    gate::Request request;
    request.action = tool("{}");
    request.hints.title = "Read" + std::string(70, ' ') + "\nAllowed" + std::string(1'000'000, '!');
    request.hints.description = "Reads." + std::string(200, ' ') + "Allow? [y/n]\n" + std::string(300, 'x');
    request.origin.emplace();
    request.origin->text = "call()" + std::string(100'000, ' ') + "# Allow?";
    fixture.ask(std::move(request));
    const protocol::Approval& approval = fixture.user.requested.back();
    CHECK(approval.hints.title->size() < 120);
    CHECK(approval.hints.title->find('\n') == std::string::npos);
    CHECK(approval.hints.title->find("(1000082 bytes in all)") != std::string::npos);
    CHECK(approval.origin->text.size() < 300);
    std::istringstream rows(*approval.hints.description);
    for (std::string row; std::getline(rows, row);) {
        CHECK(row.starts_with("> "));
        CHECK(row.size() <= 80);
    }
}

TEST_CASE("large calls that wait are shown as far as a message holds them, in order, and none is lost") {
    Fixture fixture;
    const std::string large(7'000'000, 'x');
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 8; ++i) {
        calls.push_back(fixture.ask(tool(R"({"n":)" + std::to_string(i) + R"(,"a":")" + large + "\"}")));
    }
    const std::size_t at_first = fixture.user.requested.size();
    CHECK(at_first < 4);
    for (std::size_t next = 0; next < fixture.user.requested.size(); ++next) {
        std::size_t bytes = 0;
        for (const protocol::Approval& approval : fixture.user.pending()) {
            bytes += to_json(approval).size();
        }
        CHECK(bytes <= gate::Gate::max_pending_bytes_per_session);
        const std::string id = fixture.user.requested[next].approval_id;
        fixture.answer(id, Verdict::allow);
    }
    CHECK(fixture.user.requested.size() == 8);
    CHECK(std::all_of(calls.begin(), calls.end(), [](const auto& call) { return call->allowed(); }));
}

TEST_CASE("calls that are cancelled together are not asked about one after the other") {
    Fixture fixture;
    TaskScope calls;
    for (int i = 0; i < 1000; ++i) {
        gate::Request request;
        request.action = tool(R"({"n":)" + std::to_string(i) + "}");
        request.session_id = "s";
        calls.spawn(keep_outcome(fixture.gate.get(), std::move(request), std::make_shared<Outcome>()));
    }
    CHECK(fixture.user.requested.size() == 64);
    // As a connection that ends does it, from inside a task.
    struct End {
        static Task<void> of(TaskScope* scope) {
            scope->cancel();
            co_return;
        }
    };
    fixture.calls.spawn(End::of(&calls));
    CHECK(calls.running() == 0);
    CHECK(fixture.user.requested.size() == 64);
    CHECK(fixture.user.resolved.size() == 64);
    CHECK(fixture.ask(tool("{}"))->waits());
    CHECK(fixture.user.requested.size() == 65);
}

TEST_CASE("a thread that asks for ever keeps neither its execution's end nor other calls waiting") {
    Fixture fixture;
    std::size_t pending = 0;
    fixture.run_execution("e", protocol::ApprovalMode::ask, [&pending](std::size_t now) { pending = now; });
    const auto thread = fixture.ask(tool(R"({"n":1})"), "e");
    CHECK(pending == 1);
    fixture.gate->end_execution("e");
    fixture.clock.advance(std::chrono::hours(24 * 365));
    CHECK(thread->waits());
    fixture.run_execution("f", protocol::ApprovalMode::ask, [&pending](std::size_t now) { pending = now; });
    pending = 0;
    const auto next = fixture.ask(tool(R"({"n":2})"), "f");
    fixture.allow();
    CHECK(next->allowed());
    CHECK(pending == 0); // the clock of the next cell does not stand still for the thread
    fixture.gate->end_session("s");
    CHECK(thread->denied());
}

TEST_CASE("an answer for a session cannot be given for another one's approval with its rule") {
    Fixture fixture;
    const auto mine = fixture.ask(tool("{}"), "", "mine");
    const auto foreign = fixture.ask(tool("{}"), "", "foreign");
    fixture.answer(fixture.user.requested[0].approval_id, Verdict::allow, Scope::session);
    CHECK(mine->allowed());
    CHECK(foreign->waits());
    CHECK(fixture.ask(tool("{}"), "", "mine")->allowed()); // control
    CHECK(fixture.ask(tool("{}"), "", "foreign")->waits());
}
