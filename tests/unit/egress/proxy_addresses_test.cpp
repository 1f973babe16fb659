// Which addresses the proxy connects to, after a name was allowed.

#include "proxy_fixture.hpp"

using namespace egress_test;

TEST_CASE("local hosts are reached only by a rule that names them, and no user is asked") {
    for (const char* target : {"127.0.0.1:80", "10.0.0.1:80", "169.254.169.254:80", "[::1]:80", "localhost:80",
                               "[::ffff:127.0.0.1]:80", "x.localhost:80", "0.0.0.0:80"}) {
        CAPTURE(target);
        Fixture fixture;
        CHECK(is_refused(fixture.said(connect_to(target)), "403"));
        CHECK(fixture.user->requested.empty());
        CHECK(fixture.network.connected.empty());
    }
    Fixture listed;
    listed.rule(Effect::allow, "127.0.0.1:80");
    CHECK(listed.said(get("http://127.0.0.1/", "127.0.0.1")) == "the answer");
    Fixture local;
    local.rule(Effect::allow, "localhost");
    CHECK(local.said(get("http://localhost:8000/", "localhost:8000")) == "the answer");
    CHECK(local.network.connected == std::vector<std::string>{"127.0.0.1:8000"});
}

TEST_CASE("a public name that resolves to a local address is refused, also when it has a public one") {
    for (const char* name : {"inside.example", "both.example"}) {
        CAPTURE(name);
        Fixture fixture;
        fixture.rule(Effect::allow, name);
        const std::string answer = fixture.said(connect_to(std::string(name) + ":443"));
        CHECK(is_refused(answer, "403"));
        CHECK(answer.find("resolves to") != std::string::npos);
        REQUIRE(fixture.refused.size() == 1); // what a rule would have to name
        CHECK(fixture.refused[0] == (std::string(name) == "inside.example" ? "10.0.0.5:443" : "127.0.0.1:443"));
        CHECK(fixture.network.connected.empty());
    }
    // The control: with the address listed it is reached, so nothing else refused it.
    Fixture listed;
    listed.rule(Effect::allow, "inside.example");
    listed.rule(Effect::allow, "10.0.0.5");
    CHECK(listed.said(get("http://inside.example/", "inside.example")) == "the answer");
}

TEST_CASE("a name is looked up once, and that very address is dialled") {
    Fixture fixture;
    fixture.said(get("http://two.example/", "two.example"));
    CHECK(fixture.network.looked_up == std::vector<std::string>{"two.example"});
    CHECK(fixture.network.connected == std::vector<std::string>{"93.184.215.16:80"});
}

TEST_CASE("a grant for everything does not reach what only a rule can name") {
    Fixture fixture;
    gate::ExecutionGrants running;
    running.session_id = "session";
    running.execution_id = "execution";
    running.mode = protocol::ApprovalMode::allow;
    fixture.gate->begin_execution(std::move(running));
    fixture.execution = "execution";
    std::vector<std::string> answers;
    fixture.run([&]() -> Task<void> {
        answers.push_back(co_await fixture.say(get("http://example.org/", "example.org")));
        answers.push_back(co_await fixture.say(connect_to("127.0.0.1:80")));
        answers.push_back(co_await fixture.say(connect_to("inside.example:80")));
    });
    CHECK(answers[0] == "the answer"); // the control
    CHECK(is_refused(answers[1], "403"));
    CHECK(is_refused(answers[2], "403"));
}

TEST_CASE("a rule that denies an address holds for the names that resolve to it") {
    Fixture fixture;
    fixture.rule(Effect::allow, "two.example");
    fixture.rule(Effect::deny, "93.184.215.17");
    CHECK(is_refused(fixture.said(connect_to("two.example:443")), "403"));
    CHECK(fixture.network.connected.empty());
}

TEST_CASE("an address that does not answer gives way to the next one") {
    Fixture fixture;
    fixture.network.deaf = "93.184.215.16";
    std::string answer;
    fixture.run([&]() -> Task<void> {
        TaskScope clients;
        clients.spawn(Fixture::keep(&answer, fixture.say(get("http://two.example/", "two.example"))));
        while (fixture.network.connected.empty()) {
            co_await fixture.loop.yield();
        }
        fixture.clock.advance(std::chrono::seconds(16));
        co_await clients.join();
    });
    CHECK(answer == "the answer");
    CHECK(fixture.network.connected == std::vector<std::string>{"93.184.215.16:80", "93.184.215.17:80"});
}
