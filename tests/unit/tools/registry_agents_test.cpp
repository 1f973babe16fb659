#include "tools_fixture.hpp"

#include <csignal>
#include <stdexcept>
#include <thread>
#include <unistd.h>

using namespace tools_fixture;
using namespace std::chrono_literals;
using protocol::ToolServerState;

namespace {

tools::ServerSpec of_agent(Fixture* fixture, const std::string& name, std::uint64_t client = 7) {
    tools::ServerSpec spec = fixture->fixture(name, {"--agent"});
    spec.source = protocol::ToolServerSource::agent;
    spec.agent = gate::Agent{client, "agent " + std::to_string(client)};
    return spec;
}

std::optional<protocol::ToolServerSource> source_of(Fixture* fixture, const std::string& name) {
    for (const protocol::ToolServerInfo& info : fixture->registry->list()) {
        if (info.name == name) {
            return info.source;
        }
    }
    return std::nullopt;
}

Task<void> agents_server_refused(Fixture* fixture) {
    fixture->user->answer = [fixture](const protocol::Approval& approval) { fixture->user->deny(approval); };
    fixture->registry->add_from_agent(of_agent(fixture, "git_hub"));
    CHECK(source_of(fixture, "git_hub") == protocol::ToolServerSource::agent);
    const auto denied = co_await fixture->call("git_hub", "tool-1", R"({"s":"x"})");
    CHECK(denied->code() == ErrorCode::denied);
    CHECK(source_of(fixture, "git_hub") == std::nullopt);
    // Taken back is as good as a no.
    fixture->user->answer = nullptr;
    fixture->user->asked.reset();
    fixture->registry->add_from_agent(of_agent(fixture, "git_hub"));
    const auto cancelled = fixture->start_call("git_hub", "tool-1", R"({"s":"x"})");
    co_await fixture->user->asked.wait();
    cancelled->cancel->cancel();
    co_await cancelled->done.wait();
    CHECK(source_of(fixture, "git_hub") == std::nullopt);
    // A file's server stays: the next call asks again.
    write_text(fixture->workspace / ".mcp.json", R"({"mcpServers":{"git-hub":{"command":"sh"}}})");
    CHECK(fixture->registry->read_workspace_files().empty());
    fixture->user->answer = [fixture](const protocol::Approval& approval) { fixture->user->deny(approval); };
    const auto of_file = co_await fixture->call("git-hub", "tool-1", R"({"s":"x"})");
    CHECK(of_file->code() == ErrorCode::denied);
    CHECK(source_of(fixture, "git-hub") == protocol::ToolServerSource::workspace_file);
}

Task<void> agent_goes(Fixture* fixture) {
    fixture->registry->add_from_agent(of_agent(fixture, "one", 1));
    fixture->registry->add_from_agent(of_agent(fixture, "two", 2));
    fixture->add(fixture->fixture("users"));
    fixture->allow_tool("tool-1");
    const auto called = co_await fixture->call("one", "tool-1", R"({"s":"x"})");
    CHECK(called->result);
    fixture->registry->on_agent_disconnected(1);
    CHECK(source_of(fixture, "one") == std::nullopt);
    CHECK(source_of(fixture, "two") == protocol::ToolServerSource::agent);
    CHECK(source_of(fixture, "users") == protocol::ToolServerSource::user);
}

tools::ServerSpec other_of_agent(Fixture* fixture, const std::string& name, std::uint64_t client) {
    tools::ServerSpec spec = of_agent(fixture, name, client);
    spec.config.args->push_back("--other");
    return spec;
}

Task<void> agents_name_one(Fixture* fixture) {
    fixture->registry->add_from_agent(of_agent(fixture, "shared", 1));
    ErrorCode refused = ErrorCode::internal_error;
    try {
        fixture->registry->add_from_agent(other_of_agent(fixture, "shared", 2));
    } catch (const Error& error) {
        refused = error.code;
    }
    CHECK(refused == ErrorCode::forbidden);
    // Exactly the same is both's, and stays as long as one of them; then nor can the first one change it.
    fixture->registry->add_from_agent(of_agent(fixture, "shared", 2));
    refused = ErrorCode::internal_error;
    try {
        fixture->registry->add_from_agent(other_of_agent(fixture, "shared", 1));
    } catch (const Error& error) {
        refused = error.code;
    }
    CHECK(refused == ErrorCode::forbidden);
    fixture->registry->add_from_agent(of_agent(fixture, "shared", 3));
    fixture->registry->add_from_agent(of_agent(fixture, "shared", 3));
    fixture->registry->on_agent_disconnected(1);
    fixture->registry->on_agent_disconnected(3);
    CHECK(source_of(fixture, "shared") == protocol::ToolServerSource::agent);
    fixture->registry->on_agent_disconnected(2);
    CHECK(source_of(fixture, "shared") == std::nullopt);
    // The control: an agent may mean another one by its own name.
    fixture->registry->add_from_agent(of_agent(fixture, "shared", 1));
    fixture->registry->add_from_agent(other_of_agent(fixture, "shared", 1));
    CHECK(source_of(fixture, "shared") == protocol::ToolServerSource::agent);
    co_return;
}

Task<void> agents_give_way(Fixture* fixture) {
    fixture->registry->add_from_agent(of_agent(fixture, "same"));
    fixture->registry->add_from_agent(of_agent(fixture, "git_hub"));
    fixture->registry->add_from_agent(of_agent(fixture, "given"));
    write_text(fixture->workspace / ".mcp.json",
               R"({"mcpServers":{"same":{"command":"sh"},"git-hub":{"command":"sh"}}})");
    CHECK(fixture->registry->read_workspace_files().empty());
    CHECK(source_of(fixture, "same") == protocol::ToolServerSource::workspace_file);
    CHECK(source_of(fixture, "git-hub") == protocol::ToolServerSource::workspace_file);
    CHECK(source_of(fixture, "git_hub") == std::nullopt);
    fixture->add(fixture->fixture("given"));
    CHECK(source_of(fixture, "given") == protocol::ToolServerSource::user);
    co_return;
}

Task<void> agent_is_named(Fixture* fixture) {
    fixture->registry->add_from_agent(of_agent(fixture, "mine"));
    fixture->allow_tool("tool-1");
    // A user's own call: no agent is in its context.
    const auto called = co_await fixture->call("mine", "tool-1", R"({"s":"x"})");
    CHECK(called->result);
    REQUIRE(fixture->user->requested.size() == 1);
    CHECK(fixture->user->requested[0].agent == "agent 7");
    CHECK(fixture->user->requested[0].display.back() == "by agent agent 7");
}

} // namespace

TEST_CASE("an agent's server whose start was refused leaves its name free") {
    Fixture fixture;
    fixture.run(agents_server_refused(&fixture));
}

TEST_CASE("an agent's servers end with it") {
    Fixture fixture;
    fixture.run(agent_goes(&fixture));
}

TEST_CASE("an agent's server is not another agent's to change, and one that both name ends with the last") {
    Fixture fixture;
    fixture.run(agents_name_one(&fixture));
}

TEST_CASE("an agent's server gives way to a user's and to a file's") {
    Fixture fixture;
    fixture.run(agents_give_way(&fixture));
}

TEST_CASE("the question about an agent's server names the agent, whichever client starts it") {
    Fixture fixture;
    fixture.run(agent_is_named(&fixture));
}
