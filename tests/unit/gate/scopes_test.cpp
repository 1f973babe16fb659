#include "gate_house.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace gate_house;

TEST_CASE("a loop of 1,000 equal calls with scope execution asks once") {
    House house;
    house.run_execution("e");
    const auto first = house.ask(tool(R"({"path":"a"})"), "e");
    house.allow(Scope::execution);
    CHECK(first->allowed());
    for (int i = 1; i < 1000; ++i) {
        REQUIRE(house.ask(tool(R"({"path":"a"})"), "e")->allowed());
    }
    CHECK(house.person.requested.size() == 1);

    SUBCASE("a different path asks again") {
        CHECK(house.ask(tool(R"({"path":"b"})"), "e")->waits());
    }
    SUBCASE("other bytes of an equal value ask again") {
        CHECK(house.ask(tool(R"({"path": "a"})"), "e")->waits());
    }
    SUBCASE("a different tool asks again") {
        CHECK(house.ask(tool(R"({"path":"a"})", "stat"), "e")->waits());
    }
    SUBCASE("a different server asks again") {
        CHECK(house.ask(tool(R"({"path":"a"})", "read_file", "web"), "e")->waits());
    }
    SUBCASE("the next cell asks again") {
        house.gate->end_execution("e");
        house.run_execution("f");
        CHECK(house.ask(tool(R"({"path":"a"})"), "f")->waits());
    }
    SUBCASE("a call with nothing running asks again") {
        CHECK(house.ask(tool(R"({"path":"a"})"))->waits());
    }
    SUBCASE("the same execution id in another session asks again") {
        CHECK(house.ask(tool(R"({"path":"a"})"), "e", "other")->waits());
    }
}

TEST_CASE("equal calls of 1,000 threads that wait at once are answered together when the answer holds for longer") {
    House house;
    house.run_execution("e");
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 1000; ++i) {
        calls.push_back(house.ask(tool(R"({"path":"a"})"), "e"));
    }
    const auto other = house.ask(tool(R"({"path":"b"})"), "e");

    SUBCASE("scope execution") {
        house.answer(house.person.requested.front().approval_id, Verdict::allow, Scope::execution);
        for (const auto& call : calls) {
            REQUIRE(call->allowed());
        }
        CHECK(calls.front()->decision->by == ResolvedBy::person);
        CHECK(calls.back()->decision->by == ResolvedBy::rule);
        CHECK(house.person.resolved.back().rule_id == calls.front()->decision->rule->id);
        CHECK(other->waits());
        CHECK(house.person.requested.size() == 65);
    }
    SUBCASE("control: scope once answers one") {
        house.answer(house.person.requested.front().approval_id, Verdict::allow, Scope::once);
        CHECK(calls[0]->allowed());
        CHECK(calls[1]->waits());
    }
    SUBCASE("a denial that holds for longer too") {
        house.answer(house.person.requested.front().approval_id, Verdict::deny, Scope::execution);
        CHECK(calls.back()->denied());
        CHECK(house.ask(tool(R"({"path":"a"})"), "e")->denied());
        CHECK(other->waits());
    }
}

TEST_CASE("each scope lives as long as it says") {
    struct Life {
        Scope scope;
        bool next_cell;
        bool next_session;
        bool restart;
        bool other_root;
    };
    constexpr Life lives[] = {{Scope::once, false, false, false, false},
                              {Scope::execution, false, false, false, false},
                              {Scope::session, true, false, false, false},
                              {Scope::workspace, true, true, true, false},
                              {Scope::always, true, true, true, true}};
    const RuleSpec wide = rule(Effect::allow, ActionKind::tool, "files", "read_file");
    for (const Life& life : lives) {
        for (const bool by_rule : {false, true}) {
            if (by_rule && life.scope == Scope::once) {
                continue;
            }
            CAPTURE(static_cast<int>(life.scope));
            CAPTURE(by_rule);
            House house;
            house.run_execution("e");
            const Action action = tool(R"({"path":"a"})");
            const auto first = house.ask(action, "e");
            house.allow(life.scope, by_rule ? std::optional(wide) : std::nullopt);
            REQUIRE(first->allowed());
            CHECK(house.ask(action, "e")->allowed() == (life.scope != Scope::once));
            CHECK(house.ask(tool(R"({"path":"b"})"), "e")->allowed() == by_rule);
            house.gate->end_execution("e");
            house.run_execution("f");
            CHECK(house.ask(action, "f")->allowed() == life.next_cell);
            house.gate->end_session("s");
            CHECK(house.ask(action)->allowed() == life.next_session);
            house.restart();
            CHECK(house.ask(action)->allowed() == life.restart);
            house.root = house.base / "elsewhere";
            std::filesystem::create_directory(house.root);
            house.restart();
            CHECK(house.ask(action)->allowed() == life.other_root);
        }
    }
}

TEST_CASE("a grant is void when the server or the tool's definition has changed") {
    House house;
    Action action = tool(R"({"path":"a"})");
    std::optional<RuleSpec> spec;
    SUBCASE("of the exact payload") {}
    SUBCASE("of a rule") {
        spec = rule(Effect::allow, ActionKind::tool, "files", "read_file");
    }
    house.ask(action);
    house.allow(Scope::workspace, spec);
    CHECK(house.ask(action)->allowed());
    Action other_server = action;
    other_server.server_identity = "another program";
    Action other_tool = action;
    other_tool.tool_identity = "another definition";
    CHECK(house.ask(other_server)->waits());
    CHECK(house.ask(other_tool)->waits());

    // Control: a rule that a person wrote, not an answer, binds names alone.
    house.add(rule(Effect::allow, ActionKind::tool, "files", "read_file"));
    CHECK(house.ask(other_server)->allowed());
    CHECK(house.ask(other_tool)->allowed());
}

TEST_CASE("a grant for any tool of a server binds the server, not the one tool that was answered") {
    House house;
    house.ask(tool("{}"));
    house.allow(Scope::session, rule(Effect::allow, ActionKind::tool, "files"));
    CHECK(house.ask(tool("{}", "stat"))->allowed());
    Action other = tool("{}", "stat");
    other.server_identity = "another program";
    CHECK(house.ask(other)->waits());
}

TEST_CASE("starting a program is allowed for exactly that program") {
    House house;
    const auto first = house.ask(launch({"/usr/bin/npx", "a"}));
    CHECK(error_of([&] { house.allow(Scope::session, rule(Effect::allow, ActionKind::server, "files")); }) ==
          ErrorCode::rule_invalid);
    house.allow(Scope::workspace);
    CHECK(first->allowed());
    CHECK(house.ask(launch({"/usr/bin/npx", "a"}))->allowed());
    CHECK(house.ask(launch({"/usr/bin/npx", "a", "b"}))->waits());
    CHECK(house.ask(launch({"/usr/bin/npx a"}))->waits());
    Action elsewhere = launch({"/usr/bin/npx", "a"});
    elsewhere.cwd = "/tmp";
    CHECK(house.ask(elsewhere)->waits());
}

TEST_CASE("a server that a person configured starts by its identity, one of the same name does not") {
    House house;
    const RuleSpec start = rule(Effect::allow, ActionKind::server, "files");
    CHECK(error_of([&] { house.gate->configure(start, protocol::RuleSource::person); }) == ErrorCode::rule_invalid);
    house.gate->configure(start, protocol::RuleSource::person, "identity of files");
    CHECK(house.ask(launch({"/usr/bin/npx"}))->allowed());
    Action workspace_one = launch({"/usr/bin/evil"});
    workspace_one.server_identity = "identity of another";
    CHECK(house.ask(workspace_one)->waits());
}

TEST_CASE("writes and commands on the host are covered by exact payload alone") {
    House house;
    house.gate->configure(rule(Effect::allow, ActionKind::host), protocol::RuleSource::person);
    house.add(rule(Effect::allow, ActionKind::host, "host"));
    CHECK(house.ask(host(R"({"path":"a"})", "read_file"))->allowed()); // control: the rules do reach the host
    CHECK(house.ask(host(R"({"path":"a"})", "list_directory"))->allowed());
    for (const char* name : {"write_file", "run_command", "a_tool_of_tomorrow"}) {
        CAPTURE(name);
        const Action action = host(R"({"path":"a"})", name);
        CHECK(house.ask(action)->waits());
        CHECK(error_of([&] { house.allow(Scope::session, rule(Effect::allow, ActionKind::host, "host", name)); }) ==
              ErrorCode::rule_invalid);
        CHECK(error_of([&] { house.add(rule(Effect::allow, ActionKind::host, "host", name)); }) ==
              ErrorCode::rule_invalid);
        house.allow(Scope::session);
        CHECK(house.ask(action)->allowed());
        CHECK(house.ask(host(R"({"path":"b"})", name))->waits());
    }
    Action shell;
    shell.kind = ActionKind::shell;
    shell.command = std::vector<std::string>{"sh", "-c", "ls"};
    CHECK(error_of([&] { house.add(rule(Effect::allow, ActionKind::shell)); }) == ErrorCode::rule_invalid);
    CHECK(house.ask(shell)->waits());

    // A rule that names the whole of the arguments is exact.
    house.add(with(rule(Effect::allow, ActionKind::host, "host", "write_file"), "", equals(R"({"path":"c"})")));
    CHECK(house.ask(host(R"({ "path" : "c" })", "write_file"))->allowed());
    CHECK(house.ask(host(R"({"path":"c","content":""})", "write_file"))->waits());
}

TEST_CASE("no two payloads are one to a grant, however their parts are cut") {
    House house;
    house.ask(launch({"/bin/sh", "a", "b"}));
    house.allow(Scope::session);
    CHECK(house.ask(launch({"/bin/sh", "a", "b"}))->allowed());
    CHECK(std::string("a") + "b" == std::string("ab") + ""); // control: run together, the arguments are equal
    CHECK(house.ask(launch({"/bin/sh", "ab", ""}))->waits());
    CHECK(house.ask(launch({"/bin/sh", "a", "b", ""}))->waits());
    const auto hash_of = [&house](Action action) {
        const auto call = house.ask(std::move(action));
        house.allow(Scope::session);
        for (const Rule& each : house.gate->policy_list().rules) {
            if (each.id == call->decision->rule->id) {
                return *each.payload_hash;
            }
        }
        FAIL("the answer left no grant");
        return std::string();
    };
    const Action action = tool("{}", "bc", "a");
    Action as_host = action;
    as_host.kind = ActionKind::host;
    Action with_command = action;
    with_command.command = std::vector<std::string>{"x"};
    Action with_empty_command = action;
    with_empty_command.command = std::vector<std::string>{};
    Action with_folder = action;
    with_folder.cwd = "x";
    Action with_host = action;
    with_host.host = "x";
    std::set<std::string> hashes;
    const std::vector<Action> all{tool("{}", "bc", "other"), action,      tool("{}", "c", "ab"),
                                  tool("{ }", "bc", "a"),    as_host,     with_command,
                                  with_empty_command,        with_folder, with_host};
    for (const Action& each : all) {
        hashes.insert(hash_of(each));
    }
    CHECK(hashes.size() == all.size());
}

TEST_CASE("rules end when they say so") {
    House house;
    RuleSpec spec = rule(Effect::allow);
    spec.expires_at = "2026-01-01T01:00:10Z"; // the fake clock begins ten seconds earlier
    const Rule added = house.add(spec, Scope::workspace);
    CHECK(house.ask(tool("{}"))->allowed());
    CHECK(house.gate->policy_list().rules.size() == 1);
    house.clock.advance(std::chrono::seconds(9));
    CHECK(house.ask(tool("{}"))->allowed());
    house.clock.advance(std::chrono::seconds(1));
    CHECK(house.ask(tool("{}"))->waits());
    CHECK(house.gate->policy_list().rules.empty());
    CHECK(error_of([&] { house.add(spec); }) == ErrorCode::rule_invalid);
    for (const char* bad : {"tomorrow", "2030-02-31T00:00:00Z", "2030-01-01T00:00:00", "2030-01-01T24:00:00Z",
                            "2030-01-01T00:00:00+01:00", "9999-01-01T00:00:00Z", "2030-01-01T00:00:00.Z"}) {
        CAPTURE(bad);
        spec.expires_at = bad;
        CHECK(error_of([&] { house.add(spec); }) == ErrorCode::rule_invalid);
    }
}

TEST_CASE("policy/remove revokes, and what is built in stays") {
    House house;
    const Rule built_in =
        house.gate->configure(rule(Effect::ask, ActionKind::shell), protocol::RuleSource::default_rule);
    CHECK(error_of([&] { house.remove(built_in.id); }) == ErrorCode::rule_invalid);
    CHECK(error_of([&] { house.remove("nothing"); }) == ErrorCode::rule_invalid);
    house.run_execution("e");
    const Action action = tool("{}");
    for (const Scope scope : {Scope::execution, Scope::session, Scope::workspace, Scope::always}) {
        CAPTURE(static_cast<int>(scope));
        const auto call = house.ask(action, "e");
        house.allow(scope);
        CHECK(house.ask(action, "e")->allowed());
        house.remove(call->decision->rule->id);
        CHECK(house.gate->policy_list().rules.size() == 1);
        const auto again = house.ask(action, "e");
        CHECK(again->waits());
        house.deny();
    }
}
