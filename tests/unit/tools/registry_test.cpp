#include "tools_fixture.hpp"

#include <csignal>
#include <stdexcept>
#include <thread>
#include <unistd.h>

using namespace tools_fixture;
using namespace std::chrono_literals;
using protocol::ToolServerState;

namespace {

Task<void> call_tools(Fixture* fixture, std::string era) {
    fixture->add(fixture->fixture("s", {"--era", era, "--pages", "2"}));
    CHECK(fixture->registry->info("s").state == ToolServerState::stopped);
    CHECK_FALSE(fixture->registry->info("s").tools);
    const auto first = co_await fixture->call("s", "tool-1", R"({"s":"hello"})");
    CHECK(first->text() == "You passed to tool 1: hello");
    CHECK(fixture->registry->info("s").state == ToolServerState::running);
    const auto third = co_await fixture->call("s", "tool_3", R"({"name":"ab","level":2})");
    REQUIRE(third->result);
    CHECK(third->result->structured_content->value()["inner"]["code"] == 200);
    const std::string arguments = R"({ "z":1 , "big":123456789012345678901234567890, "s":"\u00e4\/" })";
    const auto raw = co_await fixture->call("s", "raw", arguments);
    CHECK(has(raw->text(), "\"arguments\":" + arguments));
    const auto failed = co_await fixture->call("s", "fail", "{}");
    CHECK(failed->result->is_error == true);
    const auto image = co_await fixture->call("s", "image", "{}");
    CHECK(image->result->content.value()[0]["mimeType"] == "image/png");
    const auto big = co_await fixture->call("s", "big", R"({"size":5000000})");
    CHECK(big->text().size() == 5'000'000);
    tools::CallContext context;
    const auto specs = co_await fixture->registry->tools(std::move(context), "s");
    CHECK(specs.size() == 12);
}

Task<void> call_in_parallel(Fixture* fixture) {
    const fs::path started = fixture->folder.path / "started";
    fixture->allow_tool("tool_2");
    fixture->add(fixture->fixture("s", {"--count-file", started.string()}));
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int index = 0; index < 20; ++index) {
        calls.push_back(fixture->start_call("s", "tool_2", R"({"s":"x","delay":0.05})"));
    }
    for (const auto& call : calls) {
        co_await call->done.wait();
        CHECK(call->text() == "You passed to tool 2: x");
    }
    CHECK(fixture->lines_of(started) == 1);
}

Task<void> slow_beside_fast(Fixture* fixture) {
    const fs::path go = fixture->folder.path / "go";
    fixture->add(fixture->fixture("slow", {"--start-file", go.string()}));
    fixture->add(fixture->fixture("fast"));
    const auto slow = fixture->start_call("slow", "tool-1", R"({"s":"late"})");
    const auto fast = co_await fixture->call("fast", "tool-1", R"({"s":"soon"})");
    CHECK(fast->text() == "You passed to tool 1: soon");
    CHECK_FALSE(slow->done.is_set());
    CHECK(fixture->registry->info("slow").state == ToolServerState::starting);
    write_text(go, "");
    co_await slow->done.wait();
    CHECK(slow->text() == "You passed to tool 1: late");
}

Task<void> die_and_come_back(Fixture* fixture) {
    const fs::path started = fixture->folder.path / "started";
    fixture->add(fixture->fixture("s", {"--count-file", started.string()}));
    const auto waiting = fixture->start_call("s", "hang", "{}");
    const auto dead = co_await fixture->call("s", "die", "{}");
    CHECK(dead->code() == ErrorCode::tool_server_failed);
    CHECK_MESSAGE(has(dead->text(), "ended during the call: exit code 3"), dead->text());
    CHECK(has(dead->text(), "the last words"));
    co_await waiting->done.wait();
    CHECK(has(waiting->text(), "exit code 3"));
    CHECK(fixture->lines_of(started) == 1); // neither was called again
    CHECK(fixture->registry->info("s").state == ToolServerState::failed);
    CHECK(has(*fixture->registry->info("s").error, "the last words"));
    CHECK(fixture->registry->info("s").tools->size() == 12);
    const auto again = co_await fixture->call("s", "tool-1", R"({"s":"back"})");
    CHECK(again->text() == "You passed to tool 1: back");
    CHECK(fixture->lines_of(started) == 2);
    CHECK(fixture->registry->info("s").state == ToolServerState::running);
}

Task<void> killed_between_calls(Fixture* fixture) {
    const fs::path started = fixture->folder.path / "started";
    fixture->add(fixture->fixture("s", {"--count-file", started.string()}));
    co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    ::kill(std::stoi(read_text(started)), SIGKILL);
    CHECK(
        co_await fixture->until([&fixture] { return fixture->registry->info("s").state == ToolServerState::failed; }));
    const auto again = co_await fixture->call("s", "tool-1", R"({"s":"back"})");
    CHECK(again->text() == "You passed to tool 1: back");
}

Task<void> fail_to_start(Fixture* fixture) {
    fixture->add(fixture->fixture("dies", {"--die-at-start"}));
    const auto dies = co_await fixture->call("dies", "tool-1", "{}");
    CHECK(dies->code() == ErrorCode::tool_server_failed);
    CHECK_MESSAGE(has(dies->text(), "exit code 4"), dies->text());
    CHECK(has(dies->text(), "no configuration was found"));
    CHECK(fixture->registry->info("dies").state == ToolServerState::failed);

    tools::ServerSpec missing;
    missing.name = "missing";
    missing.config.command = "no-such-program";
    fixture->add(missing);
    const auto not_there = co_await fixture->call("missing", "x", "{}");
    CHECK(has(not_there->text(), "there is no program \"no-such-program\" in PATH"));

    tools::ServerSpec url;
    url.name = "web";
    url.config.url = "http://127.0.0.1:1/mcp";
    fixture->add(url);
    const auto web = co_await fixture->call("web", "x", "{}");
    CHECK_MESSAGE(has(web->text(), "did not start: cannot reach 127.0.0.1"), web->text());
    CHECK(has(web->text(), "it was at http://127.0.0.1:1/mcp"));

    const auto unknown = co_await fixture->call("none", "x", "{}");
    CHECK(unknown->code() == ErrorCode::tool_server_not_found);
    fixture->add(fixture->fixture("s"));
    const auto no_tool = co_await fixture->call("s", "tool-9", "{}");
    CHECK(no_tool->code() == ErrorCode::tool_not_found);
    CHECK(has(no_tool->error->hint, "There are: tool-1, tool_2"));
}

Task<void> start_too_slowly(Fixture* fixture, FakeClock* clock) {
    fixture->add(fixture->fixture("s", {"--silent"}));
    const auto call = fixture->start_call("s", "tool-1", R"({"s":"x"})");
    CHECK(co_await fixture->until([&clock] { return clock->sleepers() == 2; })); // the probe, HTTP
    clock->advance(6s);
    CHECK(co_await fixture->until([&clock] { return clock->sleepers() == 1; })); // initialize
    clock->advance(23s);
    CHECK_FALSE(call->done.is_set());
    clock->advance(2s);
    co_await call->done.wait();
    CHECK_MESSAGE(has(call->text(), "did not answer initialize in time"), call->text());
}

Task<void> get_clean_environment(Fixture* fixture) {
    tools::ServerSpec spec = fixture->fixture("s");
    spec.config.env = Environment{{"GIVEN", "${SECRET_OF_OURS}"}};
    fs::create_directory(fixture->workspace / "sub");
    spec.config.cwd = "sub";
    fixture->add(spec);
    const auto found = co_await fixture->call("s", "environment", "{}");
    const Json seen = Json::parse(found->text());
    CHECK(seen["cwd"] == (fixture->workspace / "sub").string());
    CHECK(seen["env"]["GIVEN"] == "x");
    CHECK(seen["env"].contains("PATH"));
    CHECK_FALSE(seen["env"].contains("SECRET_OF_OURS"));
}

Task<void> ask_for_workspace_server(Fixture* fixture) {
    const fs::path file = fixture->workspace / ".mcp.json";
    const auto config = [](const std::string& flag) {
        return R"({"mcpServers":{"w":{"command":"python3","args":[")" CELLGATE_FIXTURES R"(/mcp_server.py",")" + flag +
               R"("],"env":{"A":"b"}}}})";
    };
    write_text(file, config("one"));
    CHECK(fixture->registry->read_workspace_files().empty());
    CHECK(fixture->registry->info("w").state == ToolServerState::pending);
    CHECK(fixture->registry->info("w").file == file);

    fixture->user->answer = [fixture](const protocol::Approval& approval) { fixture->user->deny(approval); };
    const auto denied = co_await fixture->call("w", "tool-1", R"({"s":"x"})");
    CHECK(denied->code() == ErrorCode::denied);
    REQUIRE(fixture->user->requested.size() == 1);
    const protocol::Action action = fixture->user->requested[0].action;
    CHECK(action.kind == protocol::ActionKind::server);
    CHECK(action.command->front().starts_with("/"));
    CHECK(action.command->back() == "one");
    CHECK(action.cwd == fixture->workspace);
    CHECK(action.environment_names == std::vector<std::string>{"A"});
    CHECK(fixture->registry->info("w").state == ToolServerState::pending);

    fixture->user->answer = [fixture](const protocol::Approval& approval) {
        protocol::ApprovalRespondParams params;
        params.approval_ids = {approval.approval_id};
        params.decision = protocol::Verdict::allow;
        params.scope =
            approval.action.kind == protocol::ActionKind::server ? protocol::Scope::workspace : protocol::Scope::once;
        fixture->user->answers.spawn(fixture->gate->respond(std::move(params)));
    };
    const auto allowed = co_await fixture->call("w", "tool-1", R"({"s":"x"})");
    CHECK_MESSAGE(allowed->result, allowed->text());
    tools::CallContext context;
    co_await fixture->registry->restart(std::move(context), "w");
    const auto asked_for_servers = [fixture] {
        return std::count_if(fixture->user->requested.begin(), fixture->user->requested.end(),
                             [](const auto& each) { return each.action.kind == protocol::ActionKind::server; });
    };
    CHECK(asked_for_servers() == 2); // the workspace's grant covers the same command again

    // A changed file asks again, even though the server of the old one still runs.
    write_text(file, config("two"));
    fixture->registry->read_workspace_files();
    CHECK(fixture->registry->info("w").state == ToolServerState::pending);
    const auto changed = co_await fixture->call("w", "tool-1", R"({"s":"x"})");
    CHECK(changed->result);
    CHECK(asked_for_servers() == 3);

    fs::remove(file);
    fixture->registry->read_workspace_files();
    const auto gone = co_await fixture->call("w", "tool-1", R"({"s":"x"})");
    CHECK(gone->code() == ErrorCode::tool_server_not_found);
}

Task<void> change_file_while_asked(Fixture* fixture) {
    const fs::path file = fixture->workspace / ".mcp.json";
    const fs::path started = fixture->folder.path / "started";
    const auto config = [started](const std::string& flag) {
        return R"({"mcpServers":{"w":{"command":"python3","args":[")" CELLGATE_FIXTURES R"(/mcp_server.py",")" + flag +
               R"(","--count-file",")" + started.string() + R"("]}}})";
    };
    write_text(file, config("shown"));
    fixture->registry->read_workspace_files();
    fixture->user->answer = nullptr;
    const auto call = fixture->start_call("w", "tool-1", R"({"s":"x"})");
    co_await fixture->user->asked.wait();
    write_text(file, config("other"));
    fixture->registry->read_workspace_files();
    // What was shown is allowed now; what is configured by now was not.
    fixture->user->allow(fixture->user->requested[0]);
    CHECK(co_await fixture->until([&fixture] { return fixture->user->requested.size() == 2; }));
    CHECK(fixture->user->requested[1].action.command->at(2) == "other");
    CHECK_FALSE(fs::exists(started));
    fixture->user->deny(fixture->user->requested[1]);
    co_await call->done.wait();
    CHECK(call->code() == ErrorCode::denied);
    CHECK_FALSE(fs::exists(started));
}

// A server of the workspace whose program leaves its mark, then is a real one.
void write_program(Fixture* fixture, const std::string& mark) {
    write_text(fixture->workspace / "server.sh", "echo " + mark + " >> \"" + (fixture->folder.path / "ran").string() +
                                                     "\"\nexec python3 " CELLGATE_FIXTURES "/mcp_server.py\n");
}

Task<void> program_changes_once(Fixture* fixture) {
    write_program(fixture, "good");
    write_text(fixture->workspace / ".mcp.json", R"({"mcpServers":{"w":{"command":"sh","args":["server.sh"]}}})");
    fixture->registry->read_workspace_files();
    fixture->user->answer = [fixture](const protocol::Approval& approval) {
        if (fixture->user->requested.size() == 1) {
            write_program(fixture, "evil");
            fixture->user->allow(approval);
        } else {
            fixture->user->deny(approval);
        }
    };
    const auto call = co_await fixture->call("w", "tool-1", R"({"s":"x"})");
    CHECK(call->code() == ErrorCode::denied);
    REQUIRE(fixture->user->requested.size() == 2);
    CHECK(fixture->user->requested[1].action.kind == protocol::ActionKind::server);
    CHECK(fixture->user->requested[0].action.server_identity != fixture->user->requested[1].action.server_identity);
    CHECK_FALSE(fs::exists(fixture->folder.path / "ran"));
    // The control: what was shown last and stays so runs, and would have run.
    fixture->user->answer = [fixture](const protocol::Approval& approval) { fixture->user->allow(approval); };
    const auto again = co_await fixture->call("w", "tool-1", R"({"s":"x"})");
    CHECK(again->result);
    CHECK(read_text(fixture->folder.path / "ran") == "evil\n");
}

Task<void> program_changes_always(Fixture* fixture) {
    write_program(fixture, "0");
    write_text(fixture->workspace / ".mcp.json", R"({"mcpServers":{"w":{"command":"sh","args":["server.sh"]}}})");
    fixture->registry->read_workspace_files();
    fixture->user->answer = [fixture](const protocol::Approval& approval) {
        write_program(fixture, std::to_string(fixture->user->requested.size()));
        fixture->user->allow(approval);
    };
    const auto call = co_await fixture->call("w", "tool-1", R"({"s":"x"})");
    CHECK(call->code() == ErrorCode::denied);
    CHECK(has(call->text(), "changed while its start was decided about"));
    CHECK(fixture->user->requested.size() == 3);
    CHECK_FALSE(fs::exists(fixture->folder.path / "ran"));
}

Task<void> ask_once_for_many(Fixture* fixture) {
    write_text(fixture->workspace / ".mcp.json",
               R"({"mcpServers":{"w":{"command":"python3","args":[")" CELLGATE_FIXTURES R"(/mcp_server.py"]}}})");
    fixture->registry->read_workspace_files();
    fixture->user->answer = nullptr;
    const auto first = fixture->start_call("w", "tool-1", R"({"s":"1"})");
    const auto second = fixture->start_call("w", "tool-1", R"({"s":"2"})");
    co_await fixture->user->asked.wait();
    CHECK(fixture->user->requested.size() == 1);
    // The one whose question it is gives up: the other one asks.
    first->cancel->cancel();
    CHECK(co_await fixture->until([&fixture] { return fixture->user->requested.size() == 2; }));
    CHECK(first->code() == ErrorCode::request_cancelled);
    CHECK(fixture->user->requested[1].action.kind == protocol::ActionKind::server);
    fixture->user->answer = [fixture](const protocol::Approval& approval) { fixture->user->allow(approval); };
    fixture->user->allow(fixture->user->requested[1]);
    co_await second->done.wait();
    CHECK(second->text() == "You passed to tool 1: 2");
}

Task<void> user_before_workspace(Fixture* fixture) {
    fixture->add(fixture->fixture("w"));
    write_text(fixture->workspace / ".mcp.json", R"({"mcpServers":{"w":{"command":"/bin/false"}}})");
    fixture->registry->read_workspace_files();
    CHECK(fixture->registry->info("w").source == protocol::ToolServerSource::user);
    const auto call = co_await fixture->call("w", "tool-1", R"({"s":"x"})");
    CHECK(call->result);
}

Task<void> remove_and_replace(Fixture* fixture) {
    const fs::path started = fixture->folder.path / "started";
    fixture->add(fixture->fixture("s", {"--count-file", started.string(), "--ignore-end"}));
    co_await fixture->call("s", "tool-1", R"({"s":"x"})");
    const int pid = std::stoi(read_text(started));
    fixture->add(fixture->fixture("s", {"--count-file", started.string(), "--ignore-end"})); // the same: goes on
    CHECK(fixture->registry->info("s").state == ToolServerState::running);
    const auto hanging = fixture->start_call("s", "hang", "{}");
    CHECK(co_await fixture->until([&fixture] { return fixture->user->requested.size() == 2; }));
    co_await fixture->registry->remove("s");
    CHECK(::kill(pid, 0) != 0); // deaf to the end of stdin and to SIGTERM
    co_await hanging->done.wait();
    CHECK(has(hanging->text(), "it was removed"));
    CHECK(fixture->registry->list().size() == 1);

    std::string refused;
    try {
        co_await fixture->registry->remove("host");
    } catch (const Error& error) {
        refused = error.message;
    }
    CHECK(has(refused, "cannot be removed"));
}

Task<void> keep_to_allowed_servers(Fixture* fixture) {
    fixture->add(fixture->fixture("s"));
    for (const char* server : {"s", "host"}) {
        tools::CallContext context;
        context.servers = std::vector<std::string>{"other"};
        const auto call = fixture->start_call(server, "read_file", R"({"path":"x"})", std::move(context));
        co_await call->done.wait();
        CHECK(call->code() == ErrorCode::tool_server_not_found);
        CHECK(has(call->text(), "this session may not use"));
    }
    CHECK(fixture->user->requested.empty());
    CHECK(fixture->registry->info("s").state == ToolServerState::stopped);
}

Task<void> cancel_during_start(Fixture* fixture) {
    const fs::path go = fixture->folder.path / "go";
    fixture->add(fixture->fixture("s", {"--start-file", go.string()}));
    const auto first = fixture->start_call("s", "tool-1", R"({"s":"1"})");
    const auto second = fixture->start_call("s", "tool-1", R"({"s":"2"})");
    CHECK(co_await fixture->until(
        [&fixture] { return fixture->registry->info("s").state == ToolServerState::starting; }));
    first->cancel->cancel();
    co_await first->done.wait();
    write_text(go, "");
    co_await second->done.wait();
    CHECK(second->text() == "You passed to tool 1: 2"); // the other caller is not cancelled with it
}

struct BrokenClock final : Clock {
    explicit BrokenClock(Clock& clock_) : clock(clock_) {}
    Instant now() const override {
        if (broken) {
            throw std::runtime_error("no time");
        }
        return clock.now();
    }
    WallTime wall() const override { return clock.wall(); }
    Task<void> sleep_until(Instant instant) override { return clock.sleep_until(instant); }

    Clock& clock;
    bool broken = true;
};

Task<void> break_during_start(Fixture* fixture, BrokenClock* clock) {
    fixture->add(fixture->fixture("s"));
    const auto first = fixture->start_call("s", "tool-1", R"({"s":"1"})");
    const auto second = fixture->start_call("s", "tool-1", R"({"s":"2"})");
    co_await first->done.wait();
    co_await second->done.wait();
    for (const auto& call : {first, second}) {
        CHECK(call->code() == ErrorCode::tool_server_failed);
        CHECK(has(call->text(), "no time"));
    }
    CHECK(fixture->registry->info("s").state == ToolServerState::failed);
    clock->broken = false;
    const auto again = co_await fixture->call("s", "tool-1", R"({"s":"3"})");
    CHECK(again->text() == "You passed to tool 1: 3");
}

Task<void> stop_during_start(Fixture* fixture) {
    fixture->add(fixture->fixture("s", {"--start-file", (fixture->folder.path / "never").string()}));
    const auto call = fixture->start_call("s", "tool-1", R"({"s":"1"})");
    CHECK(co_await fixture->until(
        [&fixture] { return fixture->registry->info("s").state == ToolServerState::starting; }));
    co_await fixture->registry->remove("s");
    co_await call->done.wait();
    CHECK(has(call->text(), "was stopped before it had started"));
}

} // namespace

TEST_CASE("tools of a server of either era are called, with the exact bytes of the arguments") {
    for (const char* era : {"legacy", "modern"}) {
        CAPTURE(era);
        Fixture fixture;
        fixture.run(call_tools(&fixture, era));
    }
}

TEST_CASE("many first calls start a server once, and run beside each other") {
    Fixture fixture;
    fixture.run(call_in_parallel(&fixture));
}

TEST_CASE("a server that is slow to start delays no other") {
    Fixture fixture;
    fixture.run(slow_beside_fast(&fixture));
}

TEST_CASE("a server that dies fails its calls with the cause, and starts again on the next one") {
    Fixture fixture;
    fixture.run(die_and_come_back(&fixture));
    Fixture quietly;
    quietly.run(killed_between_calls(&quietly));
}

TEST_CASE("a server that cannot start says why") {
    Fixture fixture;
    fixture.run(fail_to_start(&fixture));
}

TEST_CASE("a server that does not come to an understanding is given up after thirty seconds") {
    FakeClock clock;
    Fixture fixture;
    fixture.start_registry(clock);
    fixture.run(start_too_slowly(&fixture, &clock));
}

TEST_CASE("a server does not see our environment") {
    Fixture fixture;
    fixture.run(get_clean_environment(&fixture));
}

TEST_CASE("a server from a workspace's file starts only after a yes to exactly that command") {
    Fixture fixture;
    fixture.run(ask_for_workspace_server(&fixture));
}

TEST_CASE("a file that changes while its server is asked about does not start what was not shown") {
    Fixture fixture;
    fixture.run(change_file_while_asked(&fixture));
}

TEST_CASE("a program of the workspace that changes while its start is asked about is asked about again, then refused") {
    Fixture once;
    once.run(program_changes_once(&once));
    Fixture always;
    always.run(program_changes_always(&always));
}

TEST_CASE("many calls ask once for the start of a server, and go on when the first one gives up") {
    Fixture fixture;
    fixture.run(ask_once_for_many(&fixture));
}

TEST_CASE("a workspace's file cannot take the name of a server that a user gave") {
    Fixture fixture;
    fixture.run(user_before_workspace(&fixture));
}

TEST_CASE("a server that is removed ends, however deaf it is, and its calls say so") {
    Fixture fixture;
    fixture.run(remove_and_replace(&fixture));
}

TEST_CASE("a session's code calls no other servers than the session has") {
    Fixture fixture;
    fixture.run(keep_to_allowed_servers(&fixture));
}

TEST_CASE("a start that fails in an unforeseen way ends for all who wait, and the next one works") {
    Fixture fixture;
    BrokenClock clock(fixture.loop.clock());
    fixture.start_registry(clock);
    fixture.run(break_during_start(&fixture, &clock));
}

TEST_CASE("a caller who gives up does not stop a start that others wait for") {
    Fixture fixture;
    fixture.run(cancel_during_start(&fixture));
    Fixture stopped;
    stopped.run(stop_during_start(&stopped));
}
