// The end of connections: with their execution, with their client, by time limits; and how many are open.

#include "async/fd_reservation.hpp"
#include "hello.hpp"
#include "proxy_fixture.hpp"

#include <sys/resource.h>

using namespace egress_test;

TEST_CASE("the connections of all sessions are bounded, and one beyond that is refused with an error") {
    Fixture fixture;
    fixture.rule(Effect::allow, "example.org");
    rlimit most{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &most) == 0);
    std::optional<async::FdReservation> others = async::FdReservation::take(most.rlim_cur / 2 - 2);
    std::optional<async::FdReservation> another = async::FdReservation::take(1);
    REQUIRE(others);
    REQUIRE(another); // and one is left, where a connection takes two
    const std::string answer = fixture.said(connect_to("example.org:443"));
    CHECK(answer.starts_with("HTTP/1.1 503 "));
    CHECK(answer.find("too many connections") != std::string::npos);
    CHECK(fixture.network.connected.empty());
    another.reset();
    for (int time = 0; time < 3; ++time) { // each gives back what it took
        Fixture next;
        next.rule(Effect::allow, "example.org");
        CHECK(next.said(get("http://example.org/", "example.org")) == "the answer");
    }
}

TEST_CASE("connections that an execution was allowed end with it, and those that a rule allows go on") {
    for (const bool by_rule : {false, true}) {
        CAPTURE(by_rule);
        Fixture fixture;
        if (by_rule) {
            fixture.rule(Effect::allow, "example.org");
        }
        fixture.execution = "execution";
        fixture.awaited = "never";
        fixture.run([&]() -> Task<void> {
            const std::unique_ptr<async::UnixStream> stream =
                co_await async::connect_unix(fixture.loop, (fixture.folder / "proxy").string());
            stream->write(connect_to("example.org:443"));
            CHECK(co_await stream->read() == established);
            fixture.proxy->end_execution("another");
            fixture.proxy->end_execution("execution");
            if (by_rule) {
                stream->write(client_hello("example.org"));
                while (fixture.received.empty() || fixture.received[0].empty()) {
                    co_await fixture.loop.yield();
                }
                fixture.proxy->close_all();
            }
            CHECK(co_await stream->read() == "");
        });
    }
}

TEST_CASE("a client that ends its request is answered, and one that has gone is not waited for") {
    Fixture fixture;
    fixture.rule(Effect::allow, "example.org");
    std::string answer;
    fixture.run([&]() -> Task<void> {
        const std::unique_ptr<async::UnixStream> stream =
            co_await async::connect_unix(fixture.loop, (fixture.folder / "proxy").string());
        stream->write(get("http://example.org/", "example.org"));
        stream->close_output();
        answer = co_await stream->read();
    });
    CHECK(answer == "the answer");
    Fixture quiet;
    quiet.rule(Effect::allow, "example.org");
    quiet.awaited = "never";
    quiet.ignores_the_end = true;
    quiet.run([&]() -> Task<void> {
        {
            const std::unique_ptr<async::UnixStream> stream =
                co_await async::connect_unix(quiet.loop, (quiet.folder / "proxy").string());
            stream->write(connect_to("example.org:443") + client_hello("example.org"));
            while (quiet.received.empty() || quiet.received[0].empty()) {
                co_await quiet.loop.yield();
            }
            stream->close();
        }
        while (quiet.clock.sleepers() == 0) {
            co_await quiet.loop.yield();
        }
        while (quiet.ended == 0) { // the server sees that the client is gone
            quiet.clock.advance(std::chrono::seconds(61));
            co_await quiet.loop.yield();
        }
    });
    CHECK(quiet.ended == 1);
}

TEST_CASE("few names that no resolver answers for are pending at a time, and they time out") {
    Fixture fixture;
    fixture.rule(Effect::allow, "*.stuck.example");
    std::vector<std::string> answers(20);
    fixture.run([&]() -> Task<void> {
        TaskScope clients;
        for (std::size_t i = 0; i < answers.size(); ++i) {
            clients.spawn(
                Fixture::keep(&answers[i], fixture.say(connect_to("n" + std::to_string(i) + ".stuck.example:443"))));
        }
        while (fixture.network.looked_up.size() < 4) {
            co_await fixture.loop.yield();
        }
        fixture.clock.advance(std::chrono::seconds(21));
        while (answers[0].empty()) {
            co_await fixture.loop.yield();
        }
        CHECK(fixture.network.looked_up.size() == 4);
        fixture.network.nothing.set(); // the resolver answers at last, that there is none
        co_await clients.join();
    });
    CHECK(fixture.network.looked_up.size() == answers.size());
    CHECK(fixture.network.max_stuck == 4); // also when several places are free at once
    for (const std::string& answer : answers) {
        CHECK(is_refused(answer, "502"));
    }
}

TEST_CASE("a client that does not complete its request is closed after a time") {
    Fixture fixture;
    std::string answer = "none";
    fixture.run([&]() -> Task<void> {
        TaskScope clients;
        clients.spawn(Fixture::keep(&answer, fixture.say("GET http://exam")));
        while (fixture.clock.sleepers() == 0) {
            co_await fixture.loop.yield();
        }
        fixture.clock.advance(std::chrono::seconds(31));
        co_await clients.join();
    });
    CHECK(answer.empty());
}

TEST_CASE("ten thousand connections are served a few at a time") {
    Fixture fixture;
    fixture.rule(Effect::allow, "example.org");
    constexpr int all = 10'000;
    int answered = 0;
    Event let_go;
    fixture.network.hold = &let_go;
    std::size_t at_once_with_all_waiting = 0;
    fixture.run([&]() -> Task<void> {
        TaskScope clients;
        const auto connection = [&]() -> Task<void> {
            const std::string answer = co_await fixture.say(get("http://example.org/", "example.org"));
            answered += answer == "the answer" ? 1 : 0;
        };
        const auto many = [&](int count) -> Task<void> {
            for (int i = 0; i < count; ++i) {
                co_await connection();
            }
        };
        constexpr int at_once = 400; // as many as descriptors allow
        for (int i = 0; i < at_once; ++i) {
            clients.spawn(many(all / at_once));
        }
        while (fixture.network.connected.size() < 64) {
            co_await fixture.loop.yield();
        }
        for (int i = 0; i < 1000; ++i) { // time enough for one more
            co_await fixture.loop.yield();
        }
        at_once_with_all_waiting = fixture.network.connected.size();
        let_go.set();
        co_await clients.join();
    });
    CHECK(answered == all);
    CHECK(at_once_with_all_waiting == 64);
}
