#include "gate_fixture.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace gate_fixture;

TEST_CASE("a loop of 1,000 equal calls with scope execution asks once") {
    Fixture fixture;
    fixture.run_execution("e");
    const auto first = fixture.ask(tool(R"({"path":"a"})"), "e");
    fixture.allow(Scope::execution);
    CHECK(first->allowed());
    for (int i = 1; i < 1000; ++i) {
        REQUIRE(fixture.ask(tool(R"({"path":"a"})"), "e")->allowed());
    }
    CHECK(fixture.user.requested.size() == 1);

    SUBCASE("a different path asks again") {
        CHECK(fixture.ask(tool(R"({"path":"b"})"), "e")->waits());
    }
    SUBCASE("other bytes of an equal value ask again") {
        CHECK(fixture.ask(tool(R"({"path": "a"})"), "e")->waits());
    }
    SUBCASE("a different tool asks again") {
        CHECK(fixture.ask(tool(R"({"path":"a"})", "stat"), "e")->waits());
    }
    SUBCASE("a different server asks again") {
        CHECK(fixture.ask(tool(R"({"path":"a"})", "read_file", "web"), "e")->waits());
    }
    SUBCASE("the next cell asks again") {
        fixture.gate->end_execution("e");
        fixture.run_execution("f");
        CHECK(fixture.ask(tool(R"({"path":"a"})"), "f")->waits());
    }
    SUBCASE("a call with nothing running asks again") {
        CHECK(fixture.ask(tool(R"({"path":"a"})"))->waits());
    }
    SUBCASE("the same execution id in another session asks again") {
        CHECK(fixture.ask(tool(R"({"path":"a"})"), "e", "other")->waits());
    }
}

TEST_CASE("equal calls of 1,000 threads that wait at once are answered together when the answer holds for longer") {
    Fixture fixture;
    fixture.run_execution("e");
    std::vector<std::shared_ptr<Outcome>> calls;
    for (int i = 0; i < 1000; ++i) {
        calls.push_back(fixture.ask(tool(R"({"path":"a"})"), "e"));
    }
    const auto other = fixture.ask(tool(R"({"path":"b"})"), "e");

    SUBCASE("scope execution") {
        fixture.answer(fixture.user.requested.front().approval_id, Verdict::allow, Scope::execution);
        for (const auto& call : calls) {
            REQUIRE(call->allowed());
        }
        CHECK(calls.front()->decision->by == ResolvedBy::user);
        CHECK(calls.back()->decision->by == ResolvedBy::rule);
        CHECK(fixture.user.resolved.back().rule_id == calls.front()->decision->rule->id);
        CHECK(other->waits());
        CHECK(fixture.user.requested.size() == 65);
    }
    SUBCASE("control: scope once answers one") {
        fixture.answer(fixture.user.requested.front().approval_id, Verdict::allow, Scope::once);
        CHECK(calls[0]->allowed());
        CHECK(calls[1]->waits());
    }
    SUBCASE("a denial that holds for longer too") {
        fixture.answer(fixture.user.requested.front().approval_id, Verdict::deny, Scope::execution);
        CHECK(calls.back()->denied());
        CHECK(fixture.ask(tool(R"({"path":"a"})"), "e")->denied());
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
            Fixture fixture;
            fixture.run_execution("e");
            const Action action = tool(R"({"path":"a"})");
            const auto first = fixture.ask(action, "e");
            fixture.allow(life.scope, by_rule ? std::optional(wide) : std::nullopt);
            REQUIRE(first->allowed());
            CHECK(fixture.ask(action, "e")->allowed() == (life.scope != Scope::once));
            CHECK(fixture.ask(tool(R"({"path":"b"})"), "e")->allowed() == by_rule);
            fixture.gate->end_execution("e");
            fixture.run_execution("f");
            CHECK(fixture.ask(action, "f")->allowed() == life.next_cell);
            fixture.gate->end_session("s");
            CHECK(fixture.ask(action)->allowed() == life.next_session);
            fixture.restart();
            CHECK(fixture.ask(action)->allowed() == life.restart);
            fixture.root = fixture.base / "elsewhere";
            std::filesystem::create_directory(fixture.root);
            fixture.restart();
            CHECK(fixture.ask(action)->allowed() == life.other_root);
        }
    }
}

TEST_CASE("a grant is void when the server or the tool's definition has changed") {
    Fixture fixture;
    Action action = tool(R"({"path":"a"})");
    std::optional<RuleSpec> spec;
    SUBCASE("of the exact payload") {}
    SUBCASE("of a rule") {
        spec = rule(Effect::allow, ActionKind::tool, "files", "read_file");
    }
    fixture.ask(action);
    fixture.allow(Scope::workspace, spec);
    CHECK(fixture.ask(action)->allowed());
    Action other_server = action;
    other_server.server_identity = "another program";
    Action other_tool = action;
    other_tool.tool_identity = "another definition";
    CHECK(fixture.ask(other_server)->waits());
    CHECK(fixture.ask(other_tool)->waits());

    // Control: a rule that a user wrote, not an answer, binds names alone.
    fixture.add(rule(Effect::allow, ActionKind::tool, "files", "read_file"));
    CHECK(fixture.ask(other_server)->allowed());
    CHECK(fixture.ask(other_tool)->allowed());
}

TEST_CASE("a grant for any tool of a server binds the server, not the one tool that was answered") {
    Fixture fixture;
    fixture.ask(tool("{}"));
    fixture.allow(Scope::session, rule(Effect::allow, ActionKind::tool, "files"));
    CHECK(fixture.ask(tool("{}", "stat"))->allowed());
    Action other = tool("{}", "stat");
    other.server_identity = "another program";
    CHECK(fixture.ask(other)->waits());
}

TEST_CASE("starting a program is allowed for exactly that program") {
    Fixture fixture;
    const auto first = fixture.ask(launch({"/usr/bin/npx", "a"}));
    CHECK(error_of([&] { fixture.allow(Scope::session, rule(Effect::allow, ActionKind::server, "files")); }) ==
          ErrorCode::rule_invalid);
    fixture.allow(Scope::workspace);
    CHECK(first->allowed());
    CHECK(fixture.ask(launch({"/usr/bin/npx", "a"}))->allowed());
    CHECK(fixture.ask(launch({"/usr/bin/npx", "a", "b"}))->waits());
    CHECK(fixture.ask(launch({"/usr/bin/npx a"}))->waits());
    Action elsewhere = launch({"/usr/bin/npx", "a"});
    elsewhere.cwd = "/tmp";
    CHECK(fixture.ask(elsewhere)->waits());
}

TEST_CASE("a server that a user configured starts by its identity, one of the same name does not") {
    Fixture fixture;
    const RuleSpec start = rule(Effect::allow, ActionKind::server, "files");
    CHECK(error_of([&] { fixture.gate->configure(start, protocol::RuleSource::user); }) == ErrorCode::rule_invalid);
    fixture.gate->configure(start, protocol::RuleSource::user, "identity of files");
    CHECK(fixture.ask(launch({"/usr/bin/npx"}))->allowed());
    Action workspace_one = launch({"/usr/bin/evil"});
    workspace_one.server_identity = "identity of another";
    CHECK(fixture.ask(workspace_one)->waits());
}

TEST_CASE("writes and commands on the host are covered by exact payload alone") {
    Fixture fixture;
    fixture.gate->configure(rule(Effect::allow, ActionKind::host), protocol::RuleSource::user);
    fixture.add(rule(Effect::allow, ActionKind::host, "host"));
    CHECK(fixture.ask(host(R"({"path":"a"})", "read_file"))->allowed()); // control: the rules do reach the host
    CHECK(fixture.ask(host(R"({"path":"a"})", "list_directory"))->allowed());
    for (const char* name : {"write_file", "run_command", "a_tool_of_tomorrow"}) {
        CAPTURE(name);
        const Action action = host(R"({"path":"a"})", name);
        CHECK(fixture.ask(action)->waits());
        CHECK(error_of([&] { fixture.allow(Scope::session, rule(Effect::allow, ActionKind::host, "host", name)); }) ==
              ErrorCode::rule_invalid);
        CHECK(error_of([&] { fixture.add(rule(Effect::allow, ActionKind::host, "host", name)); }) ==
              ErrorCode::rule_invalid);
        fixture.allow(Scope::session);
        CHECK(fixture.ask(action)->allowed());
        CHECK(fixture.ask(host(R"({"path":"b"})", name))->waits());
    }
    Action install;
    install.kind = ActionKind::install;
    install.command = std::vector<std::string>{"pip", "install", "six"};
    CHECK(error_of([&] { fixture.add(rule(Effect::allow, ActionKind::install)); }) == ErrorCode::rule_invalid);
    CHECK(fixture.ask(install)->waits());

    // A rule that names the whole of the arguments is exact.
    fixture.add(with(rule(Effect::allow, ActionKind::host, "host", "write_file"), "", equals(R"({"path":"c"})")));
    CHECK(fixture.ask(host(R"({ "path" : "c" })", "write_file"))->allowed());
    CHECK(fixture.ask(host(R"({"path":"c","content":""})", "write_file"))->waits());
}

TEST_CASE("no two payloads are one to a grant, however their parts are cut") {
    Fixture fixture;
    fixture.ask(launch({"/bin/sh", "a", "b"}));
    fixture.allow(Scope::session);
    CHECK(fixture.ask(launch({"/bin/sh", "a", "b"}))->allowed());
    CHECK(std::string("a") + "b" == std::string("ab") + ""); // control: run together, the arguments are equal
    CHECK(fixture.ask(launch({"/bin/sh", "ab", ""}))->waits());
    CHECK(fixture.ask(launch({"/bin/sh", "a", "b", ""}))->waits());
    const auto hash_of = [&fixture](Action action) {
        const auto call = fixture.ask(std::move(action));
        fixture.allow(Scope::session);
        for (const Rule& each : fixture.gate->policy_list().rules) {
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
    Fixture fixture;
    RuleSpec spec = rule(Effect::allow);
    spec.expires_at = "2026-01-01T01:00:10Z"; // the fake clock begins ten seconds earlier
    const Rule added = fixture.add(spec, Scope::workspace);
    CHECK(fixture.ask(tool("{}"))->allowed());
    CHECK(fixture.gate->policy_list().rules.size() == 1);
    fixture.clock.advance(std::chrono::seconds(9));
    CHECK(fixture.ask(tool("{}"))->allowed());
    fixture.clock.advance(std::chrono::seconds(1));
    CHECK(fixture.ask(tool("{}"))->waits());
    CHECK(fixture.gate->policy_list().rules.empty());
    CHECK(error_of([&] { fixture.add(spec); }) == ErrorCode::rule_invalid);
    for (const char* bad : {"tomorrow", "2030-02-31T00:00:00Z", "2030-01-01T00:00:00", "2030-01-01T24:00:00Z",
                            "2030-01-01T00:00:00+01:00", "9999-01-01T00:00:00Z", "2030-01-01T00:00:00.Z"}) {
        CAPTURE(bad);
        spec.expires_at = bad;
        CHECK(error_of([&] { fixture.add(spec); }) == ErrorCode::rule_invalid);
    }
}

TEST_CASE("policy/remove revokes, and what is built in stays") {
    Fixture fixture;
    const Rule built_in =
        fixture.gate->configure(rule(Effect::ask, ActionKind::install), protocol::RuleSource::default_rule);
    CHECK(error_of([&] { fixture.remove(built_in.id); }) == ErrorCode::rule_invalid);
    CHECK(error_of([&] { fixture.remove("nothing"); }) == ErrorCode::rule_invalid);
    fixture.run_execution("e");
    const Action action = tool("{}");
    for (const Scope scope : {Scope::execution, Scope::session, Scope::workspace, Scope::always}) {
        CAPTURE(static_cast<int>(scope));
        const auto call = fixture.ask(action, "e");
        fixture.allow(scope);
        CHECK(fixture.ask(action, "e")->allowed());
        fixture.remove(call->decision->rule->id);
        CHECK(fixture.gate->policy_list().rules.size() == 1);
        const auto again = fixture.ask(action, "e");
        CHECK(again->waits());
        fixture.deny();
    }
}
