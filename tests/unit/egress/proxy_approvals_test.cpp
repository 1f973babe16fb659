// How connections through the proxy are decided: by rules, and by the user's answers.

#include "hello.hpp"
#include "proxy_fixture.hpp"

using namespace egress_test;

TEST_CASE("an unknown host is asked for, with its port, and reached after the yes") {
    Fixture fixture;
    CHECK(fixture.said(get("http://Example.org/a?b", "example.org")) == "the answer");
    REQUIRE(fixture.user->requested.size() == 1);
    const protocol::Approval& approval = fixture.user->requested[0];
    CHECK(approval.action.kind == protocol::ActionKind::network);
    CHECK(approval.action.host == "example.org");
    CHECK(approval.action.port == 80);
    CHECK(approval.session_id == "session");
    CHECK(approval.display.at(0) == "connect to example.org port 80");
    CHECK(fixture.network.connected == std::vector<std::string>{"93.184.215.14:80"});
    CHECK(fixture.received.at(0) == "GET /a?b HTTP/1.1\r\nhost: example.org\r\nconnection: close\r\n\r\n");
}

TEST_CASE("what became of a connection is reported, with the bytes that it carried") {
    Fixture fixture;
    const auto outcome = [&fixture] { return fixture.gate->policy_decisions().decisions.at(0).outcome.value(); };
    SUBCASE("in a tunnel") {
        fixture.awaited = "hello";
        const std::string hello = client_hello("www.example.org") + "hello";
        fixture.said(connect_to("www.example.org:443") + hello);
        CHECK(outcome().status == protocol::OutcomeStatus::succeeded);
        CHECK(outcome().bytes_sent == hello.size());
        CHECK(outcome().bytes_received == std::string("the answer").size());
    }
    SUBCASE("of a request") {
        fixture.said(get("http://example.org/", "example.org"));
        CHECK(outcome().status == protocol::OutcomeStatus::succeeded);
        CHECK(outcome().bytes_sent == fixture.received.at(0).size());
    }
    SUBCASE("that names another host than the one that was allowed") {
        fixture.said(connect_to("www.example.org:443") + client_hello("elsewhere.example.org"));
        CHECK(outcome().status == protocol::OutcomeStatus::failed);
        CHECK(outcome().error.value().find("elsewhere.example.org") != std::string::npos);
        CHECK(outcome().bytes_sent == 0);
    }
    SUBCASE("that could not be made") {
        fixture.said(connect_to("nowhere.example:443"));
        CHECK(outcome().status == protocol::OutcomeStatus::failed);
        CHECK(outcome().error == "cannot look up nowhere.example");
    }
}

TEST_CASE("after a denial no name is resolved, and the client receives the reason") {
    Fixture fixture;
    fixture.user->answer = Verdict::deny;
    const std::string answer = fixture.said(connect_to("secret-in-a-name.example.org:443"));
    CHECK(is_refused(answer, "403"));
    CHECK(answer.find("Failed to resolve 'secret-in-a-name.example.org'") != std::string::npos);
    CHECK(fixture.network.looked_up.empty());
    CHECK(fixture.network.connected.empty());
}

TEST_CASE("rules for hosts decide without a user") {
    Fixture fixture;
    fixture.rule(Effect::allow, "*.example.org:443");
    fixture.rule(Effect::deny, "example.org");
    fixture.awaited = "hello";
    const std::string hello = client_hello("www.example.org");
    CHECK(fixture.said(connect_to("www.example.org:443") + hello + "hello") == established + "the answer");
    CHECK(fixture.received.at(0) == hello + "hello");
    CHECK(fixture.user->requested.empty());
    Fixture other;
    other.rule(Effect::deny, "example.org");
    CHECK(is_refused(other.said(connect_to("EXAMPLE.org.:443")), "403"));
    CHECK(other.user->requested.empty());
}

TEST_CASE("the program that the bridge names is shown, escaped, and binds nothing") {
    Fixture fixture;
    fixture.said(std::string("\0\x0a", 2) + "curl\x1b[2J x" + get("http://example.org/", "example.org"));
    REQUIRE(fixture.user->requested.size() == 1);
    const std::optional<std::string> program = fixture.user->requested[0].action.program;
    REQUIRE(program);
    CHECK(program->starts_with("curl"));
    CHECK(program->find('\x1b') == std::string::npos);
    CHECK(fixture.user->requested[0].display.size() == 2);
}

TEST_CASE("SOCKS5 is decided by the same gate") {
    const std::string greeting{"\5\1\0", 3};
    const std::string request = std::string("\5\1\0\3\x0b", 5) + "example.org" + std::string("\0\x50", 2);
    const std::string accepted = std::string("\5\0", 2) + std::string("\5\0\0\1\0\0\0\0\0\0", 10);
    Fixture fixture;
    CHECK(fixture.said(greeting + request + get("/", "example.org")) == accepted + "the answer");
    CHECK(fixture.user->requested.size() == 1);
    Fixture denied;
    denied.user->answer = Verdict::deny;
    CHECK(denied.said(greeting + request) == std::string("\5\0\5\2\0\1\0\0\0\0\0\0", 12));
    Fixture locked;
    CHECK(locked.said(std::string("\5\1\2", 3)) == std::string("\5\xff", 2));
}

TEST_CASE("equal requests at the same time are one approval, and a yes to one connection covers one") {
    for (const protocol::Scope scope : {protocol::Scope::session, protocol::Scope::once}) {
        Fixture fixture;
        fixture.user->answer.reset();
        fixture.user->scope = scope;
        std::vector<std::string> answers(20);
        fixture.run([&]() -> Task<void> {
            TaskScope clients;
            for (std::string& answer : answers) {
                clients.spawn(Fixture::keep(&answer, fixture.say(get("http://example.org/", "example.org"))));
            }
            while (fixture.wanted < 20) {
                co_await fixture.loop.yield();
            }
            CHECK(fixture.user->requested.size() == 1);
            fixture.user->answer = Verdict::allow;
            fixture.user->respond(Verdict::allow);
            co_await clients.join();
        });
        for (const std::string& answer : answers) {
            CHECK(answer == "the answer");
        }
        CHECK(fixture.user->requested.size() == (scope == protocol::Scope::once ? 20 : 1));
    }
}

TEST_CASE("an approval names one program and line, and its answer covers only these") {
    Fixture fixture;
    fixture.user->answer.reset();
    std::vector<std::string> answers(3);
    fixture.run([&]() -> Task<void> {
        TaskScope clients;
        clients.spawn(
            Fixture::keep(&answers[0], fixture.say(std::string("\0\x03pip", 5) + connect_to("example.org:443"))));
        clients.spawn(
            Fixture::keep(&answers[1], fixture.say(std::string("\0\x04", 2) + "evil" + connect_to("example.org:443"))));
        clients.spawn(Fixture::keep(&answers[2],
                                    fixture.say(std::string("\0\x05", 2) + "7\npip" + connect_to("example.org:443"))));
        while (fixture.user->requested.size() < answers.size()) {
            co_await fixture.loop.yield();
        }
        for (const protocol::Approval& approval : fixture.user->requested) {
            fixture.user->respond(Verdict::deny, approval);
        }
        co_await clients.join();
    });
    for (const std::string& answer : answers) {
        CHECK(is_refused(answer, "403"));
    }
    CHECK(fixture.user->requested[2].origin->line == 7);
}

TEST_CASE("raw bytes are asked about, in a connection that is open") {
    Fixture fixture;
    fixture.awaited = "PING";
    CHECK(fixture.said(connect_to("www.example.org:6379") + "PING\r\n") == established + "the answer");
    REQUIRE(fixture.user->requested.size() == 2);
    const protocol::Approval& approval = fixture.user->requested[1];
    CHECK(approval.action.protocol == protocol::NetworkProtocol::raw);
    CHECK(approval.display.at(0) == "let any bytes pass to www.example.org port 6379");
    CHECK(approval.hints.description == "> what the program sends is neither TLS nor HTTP");
    CHECK(approval.choices.at(0).label == "any bytes in this connection");
    CHECK(approval.choices.back().rule->protocol == protocol::NetworkProtocol::raw);
    const auto outcomes = fixture.gate->policy_decisions().decisions;
    CHECK(outcomes.at(0).outcome.value().bytes_sent == 6);
}

TEST_CASE("a rule for a host covers raw bytes only when it says so") {
    Fixture fixture;
    fixture.awaited = "PING";
    SUBCASE("one without a protocol does not") {
        fixture.rule(Effect::allow, "www.example.org:6379");
        fixture.user->answer = Verdict::deny;
        CHECK(fixture.said(connect_to("www.example.org:6379") + "PING\r\n") == established);
        CHECK(fixture.user->requested.size() == 1);
        CHECK(fixture.received.at(0).empty());
    }
    SUBCASE("one with it covers the opening and the bytes") {
        fixture.rule(Effect::allow, "www.example.org:6379", protocol::NetworkProtocol::raw);
        CHECK(fixture.said(connect_to("www.example.org:6379") + "PING\r\n") == established + "the answer");
        CHECK(fixture.user->requested.empty());
    }
    SUBCASE("one that denies it leaves the connection to others") {
        fixture.rule(Effect::deny, "www.example.org:6379", protocol::NetworkProtocol::raw);
        fixture.rule(Effect::allow, "www.example.org:6379");
        std::string bytes = "PING\r\n";
        std::string answer = established;
        SUBCASE("that speaks TLS") {
            bytes = client_hello("www.example.org") + "PING";
            answer += "the answer";
        }
        CHECK(fixture.said(connect_to("www.example.org:6379") + bytes) == answer);
        CHECK(fixture.user->requested.empty());
    }
    SUBCASE("and of an address that is not public, no user is asked") {
        fixture.rule(Effect::allow, "10.0.0.5:6379");
        CHECK(fixture.said(connect_to("10.0.0.5:6379") + "PING\r\n") == established);
        CHECK(fixture.user->requested.empty());
        CHECK(fixture.gate->policy_decisions().decisions.at(0).reason.find("no rule allows raw connections") !=
              std::string::npos);
    }
}

TEST_CASE("a client that disconnects withdraws its approval") {
    Fixture fixture;
    fixture.user->answer.reset();
    fixture.run([&]() -> Task<void> {
        {
            const std::unique_ptr<async::UnixStream> stream =
                co_await async::connect_unix(fixture.loop, (fixture.folder / "proxy").string());
            stream->write(connect_to("example.org:443"));
            co_await fixture.user->asked.wait();
            stream->close();
        }
        while (fixture.user->resolved.empty()) {
            co_await fixture.loop.yield();
        }
    });
    CHECK(fixture.user->resolved.at(0).by == protocol::ResolvedBy::cancelled);
    CHECK(fixture.network.looked_up.empty());
}
