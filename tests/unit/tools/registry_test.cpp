#include "tools_house.hpp"

#include <csignal>
#include <stdexcept>
#include <thread>
#include <unistd.h>

using namespace tools_house;
using namespace std::chrono_literals;
using protocol::ToolServerState;

namespace {

Task<void> call_tools(House* house, std::string era) {
    house->add(house->fixture("s", {"--era", era, "--pages", "2"}));
    CHECK(house->registry->info("s").state == ToolServerState::stopped);
    CHECK_FALSE(house->registry->info("s").tools);
    const auto first = co_await house->call("s", "tool-1", R"({"s":"hello"})");
    CHECK(first->text() == "You passed to tool 1: hello");
    CHECK(house->registry->info("s").state == ToolServerState::running);
    const auto third = co_await house->call("s", "tool_3", R"({"name":"ab","level":2})");
    REQUIRE(third->result);
    CHECK(third->result->structured_content->value()["inner"]["code"] == 200);
    const std::string arguments = R"({ "z":1 , "big":123456789012345678901234567890, "s":"\u00e4\/" })";
    const auto raw = co_await house->call("s", "raw", arguments);
    CHECK(has(raw->text(), "\"arguments\":" + arguments));
    const auto failed = co_await house->call("s", "fail", "{}");
    CHECK(failed->result->is_error == true);
    const auto image = co_await house->call("s", "image", "{}");
    CHECK(image->result->content.value()[0]["mimeType"] == "image/png");
    const auto big = co_await house->call("s", "big", R"({"size":5000000})");
    CHECK(big->text().size() == 5'000'000);
    tools::CallContext context;
    const auto specs = co_await house->registry->tools(std::move(context), "s");
    CHECK(specs.size() == 11);
}

Task<void> call_in_parallel(House* house) {
    const fs::path started = house->folder.path / "started";
    house->allow_tool("tool_2");
    house->add(house->fixture("s", {"--count-file", started.string()}));
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int index = 0; index < 20; ++index) {
        calls.push_back(house->start_call("s", "tool_2", R"({"s":"x","delay":0.05})"));
    }
    for (const auto& call : calls) {
        co_await call->done.wait();
        CHECK(call->text() == "You passed to tool 2: x");
    }
    CHECK(house->lines_of(started) == 1);
}

Task<void> slow_beside_fast(House* house) {
    const fs::path go = house->folder.path / "go";
    house->add(house->fixture("slow", {"--start-file", go.string()}));
    house->add(house->fixture("fast"));
    const auto slow = house->start_call("slow", "tool-1", R"({"s":"late"})");
    const auto fast = co_await house->call("fast", "tool-1", R"({"s":"soon"})");
    CHECK(fast->text() == "You passed to tool 1: soon");
    CHECK_FALSE(slow->done.is_set());
    CHECK(house->registry->info("slow").state == ToolServerState::starting);
    write_text(go, "");
    co_await slow->done.wait();
    CHECK(slow->text() == "You passed to tool 1: late");
}

Task<void> die_and_come_back(House* house) {
    const fs::path started = house->folder.path / "started";
    house->add(house->fixture("s", {"--count-file", started.string()}));
    const auto waiting = house->start_call("s", "hang", "{}");
    const auto dead = co_await house->call("s", "die", "{}");
    CHECK(dead->code() == ErrorCode::tool_server_failed);
    CHECK_MESSAGE(has(dead->text(), "ended during the call: exit code 3"), dead->text());
    CHECK(has(dead->text(), "the last words"));
    co_await waiting->done.wait();
    CHECK(has(waiting->text(), "exit code 3"));
    CHECK(house->lines_of(started) == 1); // neither was called again
    CHECK(house->registry->info("s").state == ToolServerState::failed);
    CHECK(has(*house->registry->info("s").error, "the last words"));
    CHECK(house->registry->info("s").tools->size() == 11);
    const auto again = co_await house->call("s", "tool-1", R"({"s":"back"})");
    CHECK(again->text() == "You passed to tool 1: back");
    CHECK(house->lines_of(started) == 2);
    CHECK(house->registry->info("s").state == ToolServerState::running);
}

Task<void> killed_between_calls(House* house) {
    const fs::path started = house->folder.path / "started";
    house->add(house->fixture("s", {"--count-file", started.string()}));
    co_await house->call("s", "tool-1", R"({"s":"x"})");
    ::kill(std::stoi(read_text(started)), SIGKILL);
    CHECK(co_await house->until([&house] { return house->registry->info("s").state == ToolServerState::failed; }));
    const auto again = co_await house->call("s", "tool-1", R"({"s":"back"})");
    CHECK(again->text() == "You passed to tool 1: back");
}

Task<void> fail_to_start(House* house) {
    house->add(house->fixture("dies", {"--die-at-start"}));
    const auto dies = co_await house->call("dies", "tool-1", "{}");
    CHECK(dies->code() == ErrorCode::tool_server_failed);
    CHECK_MESSAGE(has(dies->text(), "exit code 4"), dies->text());
    CHECK(has(dies->text(), "no configuration was found"));
    CHECK(house->registry->info("dies").state == ToolServerState::failed);

    tools::ServerSpec missing;
    missing.name = "missing";
    missing.config.command = "no-such-program";
    house->add(missing);
    const auto not_there = co_await house->call("missing", "x", "{}");
    CHECK(has(not_there->text(), "there is no program \"no-such-program\" in PATH"));

    tools::ServerSpec url;
    url.name = "web";
    url.config.url = "https://example.org/mcp";
    house->add(url);
    const auto web = co_await house->call("web", "x", "{}");
    CHECK(has(web->text(), "servers over HTTP come later"));

    const auto unknown = co_await house->call("none", "x", "{}");
    CHECK(unknown->code() == ErrorCode::tool_server_not_found);
    house->add(house->fixture("s"));
    const auto no_tool = co_await house->call("s", "tool-9", "{}");
    CHECK(no_tool->code() == ErrorCode::tool_not_found);
    CHECK(has(no_tool->error->hint, "There are: tool-1, tool_2"));
}

Task<void> start_too_slowly(House* house, FakeClock* clock) {
    house->add(house->fixture("s", {"--silent"}));
    const auto call = house->start_call("s", "tool-1", R"({"s":"x"})");
    CHECK(co_await house->until([&clock] { return clock->sleepers() == 1; })); // the probe
    clock->advance(6s);
    CHECK(co_await house->until([&clock] { return clock->sleepers() == 1; })); // initialize
    clock->advance(23s);
    CHECK_FALSE(call->done.is_set());
    clock->advance(2s);
    co_await call->done.wait();
    CHECK_MESSAGE(has(call->text(), "did not answer initialize in time"), call->text());
}

Task<void> get_clean_environment(House* house) {
    tools::ServerSpec spec = house->fixture("s");
    spec.config.env = tools::Environment{{"GIVEN", "${SECRET_OF_OURS}"}};
    fs::create_directory(house->workspace / "sub");
    spec.config.cwd = "sub";
    house->add(spec);
    const auto found = co_await house->call("s", "environment", "{}");
    const Json seen = Json::parse(found->text());
    CHECK(seen["cwd"] == (house->workspace / "sub").string());
    CHECK(seen["env"]["GIVEN"] == "x");
    CHECK(seen["env"].contains("PATH"));
    CHECK_FALSE(seen["env"].contains("SECRET_OF_OURS"));
}

Task<void> ask_for_workspace_server(House* house) {
    const fs::path file = house->workspace / ".mcp.json";
    const auto config = [](const std::string& flag) {
        return R"({"mcpServers":{"w":{"command":"python3","args":[")" CELLGATE_FIXTURES R"(/mcp_server.py",")" + flag +
               R"("],"env":{"A":"b"}}}})";
    };
    write_text(file, config("one"));
    CHECK(house->registry->read_workspace_files().empty());
    CHECK(house->registry->info("w").state == ToolServerState::pending);
    CHECK(house->registry->info("w").file == file);

    house->person->answer = [house](const protocol::Approval& approval) { house->person->deny(approval); };
    const auto denied = co_await house->call("w", "tool-1", R"({"s":"x"})");
    CHECK(denied->code() == ErrorCode::denied);
    REQUIRE(house->person->requested.size() == 1);
    const protocol::Action action = house->person->requested[0].action;
    CHECK(action.kind == protocol::ActionKind::server);
    CHECK(action.command->front().starts_with("/"));
    CHECK(action.command->back() == "one");
    CHECK(action.cwd == house->workspace);
    CHECK(action.environment_names == std::vector<std::string>{"A"});
    CHECK(house->registry->info("w").state == ToolServerState::pending);

    house->person->answer = [house](const protocol::Approval& approval) {
        protocol::ApprovalRespondParams params;
        params.approval_ids = {approval.approval_id};
        params.decision = protocol::Verdict::allow;
        params.scope =
            approval.action.kind == protocol::ActionKind::server ? protocol::Scope::workspace : protocol::Scope::once;
        house->person->answers.spawn(house->gate->respond(std::move(params)));
    };
    const auto allowed = co_await house->call("w", "tool-1", R"({"s":"x"})");
    CHECK_MESSAGE(allowed->result, allowed->text());
    tools::CallContext context;
    co_await house->registry->restart(std::move(context), "w");
    const auto asked_for_servers = [house] {
        return std::count_if(house->person->requested.begin(), house->person->requested.end(),
                             [](const auto& each) { return each.action.kind == protocol::ActionKind::server; });
    };
    CHECK(asked_for_servers() == 2); // the workspace's grant covers the same command again

    // A changed file asks again, even though the server of the old one still runs.
    write_text(file, config("two"));
    house->registry->read_workspace_files();
    CHECK(house->registry->info("w").state == ToolServerState::pending);
    const auto changed = co_await house->call("w", "tool-1", R"({"s":"x"})");
    CHECK(changed->result);
    CHECK(asked_for_servers() == 3);

    fs::remove(file);
    house->registry->read_workspace_files();
    const auto gone = co_await house->call("w", "tool-1", R"({"s":"x"})");
    CHECK(gone->code() == ErrorCode::tool_server_not_found);
}

Task<void> change_file_while_asked(House* house) {
    const fs::path file = house->workspace / ".mcp.json";
    const fs::path started = house->folder.path / "started";
    const auto config = [started](const std::string& flag) {
        return R"({"mcpServers":{"w":{"command":"python3","args":[")" CELLGATE_FIXTURES R"(/mcp_server.py",")" + flag +
               R"(","--count-file",")" + started.string() + R"("]}}})";
    };
    write_text(file, config("shown"));
    house->registry->read_workspace_files();
    house->person->answer = nullptr;
    const auto call = house->start_call("w", "tool-1", R"({"s":"x"})");
    co_await house->person->asked.wait();
    write_text(file, config("other"));
    house->registry->read_workspace_files();
    // What was shown is allowed now; what is configured by now was not.
    house->person->allow(house->person->requested[0]);
    CHECK(co_await house->until([&house] { return house->person->requested.size() == 2; }));
    CHECK(house->person->requested[1].action.command->at(2) == "other");
    CHECK_FALSE(fs::exists(started));
    house->person->deny(house->person->requested[1]);
    co_await call->done.wait();
    CHECK(call->code() == ErrorCode::denied);
    CHECK_FALSE(fs::exists(started));
}

// A server of the workspace whose program leaves its mark, then is a real one.
void write_program(House* house, const std::string& mark) {
    write_text(house->workspace / "server.sh", "echo " + mark + " >> \"" + (house->folder.path / "ran").string() +
                                                   "\"\nexec python3 " CELLGATE_FIXTURES "/mcp_server.py\n");
}

Task<void> program_changes_once(House* house) {
    write_program(house, "good");
    write_text(house->workspace / ".mcp.json", R"({"mcpServers":{"w":{"command":"sh","args":["server.sh"]}}})");
    house->registry->read_workspace_files();
    house->person->answer = [house](const protocol::Approval& approval) {
        if (house->person->requested.size() == 1) {
            write_program(house, "evil");
            house->person->allow(approval);
        } else {
            house->person->deny(approval);
        }
    };
    const auto call = co_await house->call("w", "tool-1", R"({"s":"x"})");
    CHECK(call->code() == ErrorCode::denied);
    REQUIRE(house->person->requested.size() == 2);
    CHECK(house->person->requested[1].action.kind == protocol::ActionKind::server);
    CHECK(house->person->requested[0].action.server_identity != house->person->requested[1].action.server_identity);
    CHECK_FALSE(fs::exists(house->folder.path / "ran"));
    // The control: what was shown last and stays so runs, and would have run.
    house->person->answer = [house](const protocol::Approval& approval) { house->person->allow(approval); };
    const auto again = co_await house->call("w", "tool-1", R"({"s":"x"})");
    CHECK(again->result);
    CHECK(read_text(house->folder.path / "ran") == "evil\n");
}

Task<void> program_changes_always(House* house) {
    write_program(house, "0");
    write_text(house->workspace / ".mcp.json", R"({"mcpServers":{"w":{"command":"sh","args":["server.sh"]}}})");
    house->registry->read_workspace_files();
    house->person->answer = [house](const protocol::Approval& approval) {
        write_program(house, std::to_string(house->person->requested.size()));
        house->person->allow(approval);
    };
    const auto call = co_await house->call("w", "tool-1", R"({"s":"x"})");
    CHECK(call->code() == ErrorCode::denied);
    CHECK(has(call->text(), "changed while its start was decided about"));
    CHECK(house->person->requested.size() == 3);
    CHECK_FALSE(fs::exists(house->folder.path / "ran"));
}

Task<void> ask_once_for_many(House* house) {
    write_text(house->workspace / ".mcp.json",
               R"({"mcpServers":{"w":{"command":"python3","args":[")" CELLGATE_FIXTURES R"(/mcp_server.py"]}}})");
    house->registry->read_workspace_files();
    house->person->answer = nullptr;
    const auto first = house->start_call("w", "tool-1", R"({"s":"1"})");
    const auto second = house->start_call("w", "tool-1", R"({"s":"2"})");
    co_await house->person->asked.wait();
    CHECK(house->person->requested.size() == 1);
    // The one whose question it is gives up: the other one asks.
    first->cancel->cancel();
    CHECK(co_await house->until([&house] { return house->person->requested.size() == 2; }));
    CHECK(first->code() == ErrorCode::request_cancelled);
    CHECK(house->person->requested[1].action.kind == protocol::ActionKind::server);
    house->person->answer = [house](const protocol::Approval& approval) { house->person->allow(approval); };
    house->person->allow(house->person->requested[1]);
    co_await second->done.wait();
    CHECK(second->text() == "You passed to tool 1: 2");
}

tools::ServerSpec of_agent(House* house, const std::string& name, std::uint64_t client = 7) {
    tools::ServerSpec spec = house->fixture(name, {"--agent"});
    spec.source = protocol::ToolServerSource::agent;
    spec.agent = gate::Agent{client, "agent " + std::to_string(client)};
    return spec;
}

std::optional<protocol::ToolServerSource> source_of(House* house, const std::string& name) {
    for (const protocol::ToolServerInfo& info : house->registry->list()) {
        if (info.name == name) {
            return info.source;
        }
    }
    return std::nullopt;
}

Task<void> agents_server_refused(House* house) {
    house->person->answer = [house](const protocol::Approval& approval) { house->person->deny(approval); };
    house->registry->add_from_agent(of_agent(house, "git_hub"));
    CHECK(source_of(house, "git_hub") == protocol::ToolServerSource::agent);
    const auto denied = co_await house->call("git_hub", "tool-1", R"({"s":"x"})");
    CHECK(denied->code() == ErrorCode::denied);
    CHECK(source_of(house, "git_hub") == std::nullopt);
    // Taken back is as good as a no.
    house->person->answer = nullptr;
    house->person->asked.reset();
    house->registry->add_from_agent(of_agent(house, "git_hub"));
    const auto cancelled = house->start_call("git_hub", "tool-1", R"({"s":"x"})");
    co_await house->person->asked.wait();
    cancelled->cancel->cancel();
    co_await cancelled->done.wait();
    CHECK(source_of(house, "git_hub") == std::nullopt);
    // A file's server stays: the next call asks again.
    write_text(house->workspace / ".mcp.json", R"({"mcpServers":{"git-hub":{"command":"sh"}}})");
    CHECK(house->registry->read_workspace_files().empty());
    house->person->answer = [house](const protocol::Approval& approval) { house->person->deny(approval); };
    const auto of_file = co_await house->call("git-hub", "tool-1", R"({"s":"x"})");
    CHECK(of_file->code() == ErrorCode::denied);
    CHECK(source_of(house, "git-hub") == protocol::ToolServerSource::workspace_file);
}

Task<void> agent_goes(House* house) {
    house->registry->add_from_agent(of_agent(house, "one", 1));
    house->registry->add_from_agent(of_agent(house, "two", 2));
    house->add(house->fixture("persons"));
    house->allow_tool("tool-1");
    const auto called = co_await house->call("one", "tool-1", R"({"s":"x"})");
    CHECK(called->result);
    house->registry->agent_has_gone(1);
    CHECK(source_of(house, "one") == std::nullopt);
    CHECK(source_of(house, "two") == protocol::ToolServerSource::agent);
    CHECK(source_of(house, "persons") == protocol::ToolServerSource::person);
}

tools::ServerSpec other_of_agent(House* house, const std::string& name, std::uint64_t client) {
    tools::ServerSpec spec = of_agent(house, name, client);
    spec.config.args->push_back("--other");
    return spec;
}

Task<void> agents_name_one(House* house) {
    house->registry->add_from_agent(of_agent(house, "shared", 1));
    ErrorCode refused = ErrorCode::internal_error;
    try {
        house->registry->add_from_agent(other_of_agent(house, "shared", 2));
    } catch (const Error& error) {
        refused = error.code;
    }
    CHECK(refused == ErrorCode::forbidden);
    // Exactly the same is both's, and stays as long as one of them; then nor can the first one change it.
    house->registry->add_from_agent(of_agent(house, "shared", 2));
    refused = ErrorCode::internal_error;
    try {
        house->registry->add_from_agent(other_of_agent(house, "shared", 1));
    } catch (const Error& error) {
        refused = error.code;
    }
    CHECK(refused == ErrorCode::forbidden);
    house->registry->add_from_agent(of_agent(house, "shared", 3));
    house->registry->add_from_agent(of_agent(house, "shared", 3));
    house->registry->agent_has_gone(1);
    house->registry->agent_has_gone(3);
    CHECK(source_of(house, "shared") == protocol::ToolServerSource::agent);
    house->registry->agent_has_gone(2);
    CHECK(source_of(house, "shared") == std::nullopt);
    // The control: an agent may mean another one by its own name.
    house->registry->add_from_agent(of_agent(house, "shared", 1));
    house->registry->add_from_agent(other_of_agent(house, "shared", 1));
    CHECK(source_of(house, "shared") == protocol::ToolServerSource::agent);
    co_return;
}

Task<void> agents_give_way(House* house) {
    house->registry->add_from_agent(of_agent(house, "same"));
    house->registry->add_from_agent(of_agent(house, "git_hub"));
    house->registry->add_from_agent(of_agent(house, "given"));
    write_text(house->workspace / ".mcp.json",
               R"({"mcpServers":{"same":{"command":"sh"},"git-hub":{"command":"sh"}}})");
    CHECK(house->registry->read_workspace_files().empty());
    CHECK(source_of(house, "same") == protocol::ToolServerSource::workspace_file);
    CHECK(source_of(house, "git-hub") == protocol::ToolServerSource::workspace_file);
    CHECK(source_of(house, "git_hub") == std::nullopt);
    house->add(house->fixture("given"));
    CHECK(source_of(house, "given") == protocol::ToolServerSource::person);
    co_return;
}

Task<void> agent_is_named(House* house) {
    house->registry->add_from_agent(of_agent(house, "mine"));
    house->allow_tool("tool-1");
    // A person's own call: no agent is in its context.
    const auto called = co_await house->call("mine", "tool-1", R"({"s":"x"})");
    CHECK(called->result);
    REQUIRE(house->person->requested.size() == 1);
    CHECK(house->person->requested[0].agent == "agent 7");
    CHECK(house->person->requested[0].display.back() == "by agent agent 7");
}

Task<void> person_before_workspace(House* house) {
    house->add(house->fixture("w"));
    write_text(house->workspace / ".mcp.json", R"({"mcpServers":{"w":{"command":"/bin/false"}}})");
    house->registry->read_workspace_files();
    CHECK(house->registry->info("w").source == protocol::ToolServerSource::person);
    const auto call = co_await house->call("w", "tool-1", R"({"s":"x"})");
    CHECK(call->result);
}

Task<void> remove_and_replace(House* house) {
    const fs::path started = house->folder.path / "started";
    house->add(house->fixture("s", {"--count-file", started.string(), "--ignore-end"}));
    co_await house->call("s", "tool-1", R"({"s":"x"})");
    const int pid = std::stoi(read_text(started));
    house->add(house->fixture("s", {"--count-file", started.string(), "--ignore-end"})); // the same: goes on
    CHECK(house->registry->info("s").state == ToolServerState::running);
    const auto hanging = house->start_call("s", "hang", "{}");
    CHECK(co_await house->until([&house] { return house->person->requested.size() == 2; }));
    co_await house->registry->remove("s");
    CHECK(::kill(pid, 0) != 0); // deaf to the end of stdin and to SIGTERM
    co_await hanging->done.wait();
    CHECK(has(hanging->text(), "it was removed"));
    CHECK(house->registry->list().size() == 1);

    std::string refused;
    try {
        co_await house->registry->remove("host");
    } catch (const Error& error) {
        refused = error.message;
    }
    CHECK(has(refused, "cannot be removed"));
}

Task<void> keep_to_allowed_servers(House* house) {
    house->add(house->fixture("s"));
    for (const char* server : {"s", "host"}) {
        tools::CallContext context;
        context.servers = std::vector<std::string>{"other"};
        const auto call = house->start_call(server, "read_file", R"({"path":"x"})", std::move(context));
        co_await call->done.wait();
        CHECK(call->code() == ErrorCode::tool_server_not_found);
        CHECK(has(call->text(), "this session may not use"));
    }
    CHECK(house->person->requested.empty());
    CHECK(house->registry->info("s").state == ToolServerState::stopped);
}

Task<void> cancel_during_start(House* house) {
    const fs::path go = house->folder.path / "go";
    house->add(house->fixture("s", {"--start-file", go.string()}));
    const auto first = house->start_call("s", "tool-1", R"({"s":"1"})");
    const auto second = house->start_call("s", "tool-1", R"({"s":"2"})");
    CHECK(co_await house->until([&house] { return house->registry->info("s").state == ToolServerState::starting; }));
    first->cancel->cancel();
    co_await first->done.wait();
    write_text(go, "");
    co_await second->done.wait();
    CHECK(second->text() == "You passed to tool 1: 2"); // whoever else waits is not cancelled with it
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

Task<void> break_during_start(House* house, BrokenClock* clock) {
    house->add(house->fixture("s"));
    const auto first = house->start_call("s", "tool-1", R"({"s":"1"})");
    const auto second = house->start_call("s", "tool-1", R"({"s":"2"})");
    co_await first->done.wait();
    co_await second->done.wait();
    for (const auto& call : {first, second}) {
        CHECK(call->code() == ErrorCode::internal_error);
        CHECK(has(call->text(), "no time"));
    }
    CHECK(house->registry->info("s").state == ToolServerState::failed);
    clock->broken = false;
    const auto again = co_await house->call("s", "tool-1", R"({"s":"3"})");
    CHECK(again->text() == "You passed to tool 1: 3");
}

Task<void> stop_during_start(House* house) {
    house->add(house->fixture("s", {"--start-file", (house->folder.path / "never").string()}));
    const auto call = house->start_call("s", "tool-1", R"({"s":"1"})");
    CHECK(co_await house->until([&house] { return house->registry->info("s").state == ToolServerState::starting; }));
    co_await house->registry->remove("s");
    co_await call->done.wait();
    CHECK(has(call->text(), "was stopped before it had started"));
}

} // namespace

TEST_CASE("tools of a server of either era are called, with the exact bytes of the arguments") {
    for (const char* era : {"legacy", "modern"}) {
        CAPTURE(era);
        House house;
        house.run(call_tools(&house, era));
    }
}

TEST_CASE("many first calls start a server once, and run beside each other") {
    House house;
    house.run(call_in_parallel(&house));
}

TEST_CASE("a server that is slow to start holds up nobody else's") {
    House house;
    house.run(slow_beside_fast(&house));
}

TEST_CASE("a server that dies fails its calls with the cause, and starts again on the next one") {
    House house;
    house.run(die_and_come_back(&house));
    House quietly;
    quietly.run(killed_between_calls(&quietly));
}

TEST_CASE("a server that cannot start says why") {
    House house;
    house.run(fail_to_start(&house));
}

TEST_CASE("a server that does not come to an understanding is given up after thirty seconds") {
    FakeClock clock;
    House house;
    house.start_registry(clock);
    house.run(start_too_slowly(&house, &clock));
}

TEST_CASE("a server does not see our environment") {
    House house;
    house.run(get_clean_environment(&house));
}

TEST_CASE("a server from a workspace's file starts only after a yes to exactly that command") {
    House house;
    house.run(ask_for_workspace_server(&house));
}

TEST_CASE("a file that changes while its server is asked about does not start what was not shown") {
    House house;
    house.run(change_file_while_asked(&house));
}

TEST_CASE("a program of the workspace that changes while its start is asked about is asked about again, then refused") {
    House once;
    once.run(program_changes_once(&once));
    House always;
    always.run(program_changes_always(&always));
}

TEST_CASE("many calls ask once for the start of a server, and go on when the first one gives up") {
    House house;
    house.run(ask_once_for_many(&house));
}

TEST_CASE("a workspace's file cannot take the name of a server that a person gave") {
    House house;
    house.run(person_before_workspace(&house));
}

TEST_CASE("an agent's server whose start was refused keeps nobody from its name") {
    House house;
    house.run(agents_server_refused(&house));
}

TEST_CASE("an agent's servers go with it") {
    House house;
    house.run(agent_goes(&house));
}

TEST_CASE("an agent's server is not another agent's to change, and one that both name goes with the last") {
    House house;
    house.run(agents_name_one(&house));
}

TEST_CASE("an agent's server gives way to a person's and to a file's") {
    House house;
    house.run(agents_give_way(&house));
}

TEST_CASE("the question about an agent's server names the agent, whoever starts it") {
    House house;
    house.run(agent_is_named(&house));
}

TEST_CASE("a server that is removed ends, however deaf it is, and its calls say so") {
    House house;
    house.run(remove_and_replace(&house));
}

TEST_CASE("a session's code calls no other servers than the session has") {
    House house;
    house.run(keep_to_allowed_servers(&house));
}

TEST_CASE("a start that fails in an unforeseen way ends for all who wait, and the next one works") {
    House house;
    BrokenClock clock(house.loop.clock());
    house.start_registry(clock);
    house.run(break_during_start(&house, &clock));
}

TEST_CASE("a caller who gives up does not stop a start that others wait for") {
    House house;
    house.run(cancel_during_start(&house));
    House stopped;
    stopped.run(stop_during_start(&stopped));
}
